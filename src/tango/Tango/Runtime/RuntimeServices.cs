using Tango.Feeds;
using Tango.History;
using Tango.Model;
using Tango.Playback;
using Tango.SecondViews;
using Tango.Transactions;

namespace Tango.Runtime;

/// <summary>
/// The one place where the parts of a runtime are made, the lower first. Each constructor lists the parts that it uses,
/// and all of them exist by then.
/// </summary>
internal sealed class RuntimeServices
{
    public RuntimeServices(RuntimeEnvironment given)
    {
        var (log, _, options, time, entropy, _, _) = given;
        // Recognises this runtime's own entries: only by this number, so that no other incarnation may ever use it.
        var id = BitConverter.ToUInt64(entropy.NewGuid().ToByteArray());
        var playback = new PlaybackParts(given, id, Lifetime.Token);
        var (directory, cohorts) = (playback.Directory, playback.Cohorts);
        Transactions = new TransactionRunner(given, playback, Flow, Lifetime.Token);
        var upkeep = new UpkeepParts(given, id, playback, Handle, NewLeaseHandle, Lifetime);

        // Upkeep uses the handle as soon as the directory is open.
        directory.Opening += hosted => Attach(Handle, TangoDirectory.OwnEntry, hosted);
        Access = new DirectoryAccess(Handle, cohorts, Flow);
        Opener = new ObjectOpener(Access, given, playback, Transactions);
        Groups = new GroupOpener(Access, Opener, playback.Calls, playback.Player);
        Resolver = new OutcomeResolver(log, cohorts, Lifetime);
        var feeds = new FeedOpener(
            Access, Flow, directory, cohorts.Beside, new FeedPoll(log, time, playback.Chores, Lifetime.Token),
            Lifetime);
        SecondViews = new SecondViewOpener(Access, feeds, Flow, playback.CallReader, given.Loops, Lifetime);
        Observers = new ObserverOpener(playback, Flow, given.Logger);
        Past = new PastPlayback(log, Access, playback.Types, playback.CheckpointReader, cohorts.Beside, Lifetime);
        var histories = new HistoryOpener(log, Flow, Past, directory, playback.Types, playback.CallReader);
        var forks = new ObjectForks(Access, histories, upkeep.Counted, options.Types, Lifetime);
        Directory = new RuntimeDirectory(
            Access, new ObjectDeleter(Access, playback.Calls, playback.Player), playback.Hosted, playback.Views);
        History = new RuntimeHistory(histories, forks, feeds);
        Checkpoints = new RuntimeCheckpoints(Access, playback, Flow, upkeep.Maker);
        Log = new RuntimeLog(given, Access, directory, playback.Views, upkeep.Trimmer);
        (Options, Playback, Trimmer) = (options, playback, upkeep.Trimmer);

        ITangoLeased NewLeaseHandle(HostedObject hosted)
        {
            var leased = hosted.Type!.Create();
            Attach(leased, hosted.Entry, hosted);
            return (ITangoLeased)leased;
        }

        void Attach(TangoObject handle, DirectoryEntry entry, HostedObject hosted) =>
            handle.Attach(new ObjectHost(given, playback, Transactions, entry, hosted));
    }

    public TangoOptions Options { get; }

    public RuntimeLifetime Lifetime { get; } = new();

    public TransactionFlow Flow { get; } = new();

    /// <summary>The handle of the directory. Its calls need the directory to be open.</summary>
    public TangoDirectory Handle { get; } = new();

    public PlaybackParts Playback { get; }

    public Trimmer Trimmer { get; }

    public DirectoryAccess Access { get; }

    public ObjectOpener Opener { get; }

    public GroupOpener Groups { get; }

    public TransactionRunner Transactions { get; }

    public OutcomeResolver Resolver { get; }

    public SecondViewOpener SecondViews { get; }

    public ObserverOpener Observers { get; }

    public PastPlayback Past { get; }

    public RuntimeDirectory Directory { get; }

    public RuntimeHistory History { get; }

    public RuntimeCheckpoints Checkpoints { get; }

    public RuntimeLog Log { get; }
}
