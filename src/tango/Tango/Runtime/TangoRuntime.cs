using Corfu;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Tango.Calls;
using Tango.Checkpoints;
using Tango.Feeds;
using Tango.Leases;
using Tango.Places;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

/// <summary>
/// A process' place in Tango: hosts views of objects, keeps them in the order that all runtimes have, and runs
/// transactions over them (Tango 3, 4). Runtimes talk only through the log. Safe for concurrent use.
/// </summary>
public sealed partial class TangoRuntime : IAsyncDisposable
{
    private readonly CancellationTokenSource _lifetime = new();
    private readonly AsyncLocal<TangoTransaction?> _current = new();
    private readonly ulong _runtimeId;
    private readonly TangoOptions _options;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly ILogger _logger;
    private readonly ICorfuLog _log;
    private readonly TangoDirectory _directory = new();
    private readonly TangoObjectType _directoryType;

    /// <summary>A runtime over a log, with the system's clock and randomness.</summary>
    /// <exception cref="ArgumentException">An option is out of its range; all of them are named.</exception>
    public TangoRuntime(ICorfuLog log, TangoOptions? options = null, ILogger? logger = null)
        : this(log, () => new StreamCursor(log), TimeProvider.System, SystemEntropy.Instance, options, logger)
    {
    }

    /// <summary>A runtime whose every source of variation is given: for tests and the simulator.</summary>
    /// <param name="loops">Context in which playback and sending run, for all callers. Null: the thread pool.</param>
    /// <param name="openCursor">Makes a cursor over the same log, at its beginning; the runtime owns it.</param>
    public TangoRuntime(
        ICorfuLog log, Func<IStreamCursor> openCursor, TimeProvider time, IEntropy entropy,
        TangoOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
    {
        _options = options ?? new TangoOptions();
        if (_options.Faults() is { Count: > 0 } faults)
            throw new ArgumentException(string.Join(" ", faults), nameof(options));
        _log = log;
        _directoryType = TangoDirectory.TypeFor(_options.NewestLevel);
        Loops = loops ??= LoopContext.Pool;
        CallReader = new CallReader(log);
        _time = time;
        _entropy = entropy;
        // Recognises this runtime's own entries: only by this number, so that no other incarnation may ever use it.
        var id = _runtimeId = BitConverter.ToUInt64(entropy.NewGuid().ToByteArray());
        _logger = logger ??= NullLogger.Instance;
        Calls = new CallBatcher(log, id, _options, loops, logger, _lifetime.Token);
        _checkpointWriter = new CheckpointWriter(log, id, _options);
        _checkpointReader = new CheckpointReader(log, _options.NewestLevel, logger);
        _checkpointer = new Checkpointer(
            id, _options.Checkpoints, FindClaims, CheckpointByItselfAsync, FindUnhosted,
            CheckpointUnhostedByItselfAsync, TrimByItselfAsync, loops, logger, _lifetime.Token);
        var context = new PlaybackContext(
            log, Calls, FindMaxSpan, FindVersionAge, openCursor, LoadCohortAsync, FindGroupInCycle, IsDeletedInCycle,
            _options, time, loops, entropy, logger);
        var idle = _options.IdlePlayback is { } period
            ? new IdlePlayback(() => Player!, period, time, loops, _lifetime.Token)
            : null;
        _feedPoll = new FeedPoll(log, time, loops, _lifetime.Token);
        Changes = new ChangeWaits(() => Player!, _options.WaitInterval, time, loops, _lifetime.Token);
        var leases = new LeaseWatch(id, () => Player!, NewLeaseHandle, time, loops, logger, _lifetime.Token);
        Player = new Player(
            context, commits => _openings!.TakeUnused(commits), OnPlayed, _lifetime.Token, leases.Watch,
            cohort => _openings!.OnDeleted(cohort));
        var beside = _beside = context with { FindGroup = FindGroupAsync, IsDeleted = IsDeletedBefore };
        _claimHolders = new ClaimHolders(_beside, _lifetime.Token);
        _openings = new CohortOpenings(
            TypeOf, cohort => new CohortOpening(cohort, Player, beside, _lifetime.Token), _options.RemoteStay,
            _options.MaxRemoteCohorts, leases.HasLeases, time, loops, Calls,
            cohort =>
            {
                _checkpointer.Watch(cohort);
                leases.Watch(cohort);
            },
            cohort =>
            {
                _checkpointer.Unwatch(cohort);
                leases.Unwatch(cohort);
            });
        Trimmer = new Trimmer(log, _directory, _directory.ReadClaimsAsync, time, loops, logger);

        void OnPlayed(LogPosition end)
        {
            _checkpointer.OnPlayed(end);
            idle?.OnPlayed();
            Changes.OnPlayed();
            leases.OnPlayed();
        }

        ITangoLeased NewLeaseHandle(HostedObject hosted)
        {
            var handle = hosted.Type!.Create();
            handle.Attach(new ObjectHost(this, hosted.Entry, hosted));
            return (ITangoLeased)handle;
        }
    }

    /// <summary>Everything below has been played into the views that reads see now.</summary>
    public LogPosition PlayedTo => Player.Published.End;

    /// <summary>The log that the objects are in, for raw streams beside them.</summary>
    public ICorfuLog Log => _log;

    internal CallBatcher Calls { get; }

    internal CallReader CallReader { get; }

    internal Player Player { get; }

    internal ChangeWaits Changes { get; }

    internal TimeProvider Time => _time;

    internal LoopContext Loops { get; }

    /// <summary>The transaction that flows with the calling code. One that has ended still flows: using it is an error,
    /// not a plain update.</summary>
    internal TangoTransaction? Current => _current.Value;

    /// <summary>Brings all views up to the log's tail: everything acknowledged before the call is seen by transactions
    /// that begin after it.</summary>
    public async ValueTask SyncAsync(CancellationToken cancellationToken = default)
    {
        await AttachDirectoryAsync(cancellationToken);
        await Player.SyncAsync(cancellationToken);
    }

    /// <summary>
    /// Starts a transaction; the calls of object handles that flow from here belong to it until it ends. Call it in the
    /// method that uses the transaction: it does not flow out of an async method to its caller.
    /// </summary>
    /// <remarks>
    /// An active transaction is joined: <see cref="TangoTransaction.EndTxAsync"/> says <see cref="TxOutcome.Joined"/>,
    /// and the outer one decides. A joined transaction that is disposed without that drops the outer one too.
    /// </remarks>
    public TangoTransaction BeginTx(TransactionOptions? options = null)
    {
        ObjectDisposedException.ThrowIf(_lifetime.IsCancellationRequested, this);
        options ??= TransactionOptions.Default;
        if (_current.Value is { IsActive: true } outer) return outer.Join(options);
        var transaction = new TangoTransaction(this, options);
        if (!options.Explicit) _current.Value = transaction;
        return transaction;
    }

    /// <summary>
    /// Makes the calling method, and what it calls from here on, independent of the transaction that flowed into it,
    /// active or ended. For tasks started in a transaction that are not part of it; the transaction itself goes on.
    /// </summary>
    public void LeaveTransaction() => _current.Value = null;

    /// <summary>Stops playback and sending. Calls in flight are told that they are in doubt; those that wait to be sent
    /// fail.</summary>
    public ValueTask DisposeAsync()
    {
        _lifetime.Cancel();
        return ValueTask.CompletedTask;
    }

    internal void Leave(TangoTransaction transaction)
    {
        if (ReferenceEquals(_current.Value, transaction)) _current.Value = null;
    }
}
