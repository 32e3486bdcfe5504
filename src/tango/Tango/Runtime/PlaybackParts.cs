using Tango.Calls;
using Tango.Checkpoints;
using Tango.Chores;
using Tango.Model;
using Tango.Playback;
using Tango.Records;

namespace Tango.Runtime;

/// <summary>The parts of a runtime that play the log and send calls to it. Callers and the upkeep drive
/// them.</summary>
internal sealed class PlaybackParts
{
    public PlaybackParts(RuntimeEnvironment given, ulong runtime, CancellationToken lifetime)
    {
        var (log, openCursor, options, time, entropy, loops, logger) = given;
        Time = time;
        Chores = new ChoreLoop(time, loops, lifetime);
        Views = new ViewPublisher();
        Directory = new PlayedDirectory(Views);
        // Nothing is decided at a lower level, so that nothing need be declared.
        Calls = new CallBatcher(
            log, runtime, options, () => Directory.Level >= FeatureLevel.Decisions, loops, logger, lifetime);
        Scopes = new CallScopes(runtime, options.CellBits);
        Types = new PlayedTypes(options.Types, TangoDirectory.TypeFor(options.NewestLevel));
        CheckpointReader = new CheckpointReader(log, options.NewestLevel, logger);
        Hosted = new HostedCohorts(options.RemoteStay, options.MaxRemoteCohorts, time, Calls);
        var context = new PlaybackContext(
            log, openCursor, Calls, new CohortLoader(CheckpointReader), Directory, options, time, loops, Chores,
            entropy, logger);
        Player = new Player(context, Views, Hosted, lifetime);
        Cohorts = new CohortOpenings(Hosted, Player, context, Directory, Types, lifetime);
        CallReader = new CallReader(log);
        Changes = new ChangeWaits(Player, options.WaitInterval, Chores, lifetime);
        Player.Played += Changes.OnPlayed;
    }

    public TimeProvider Time { get; }

    public ChoreLoop Chores { get; }

    public CallBatcher Calls { get; }

    public CallScopes Scopes { get; }

    public ViewPublisher Views { get; }

    public PlayedDirectory Directory { get; }

    public PlayedTypes Types { get; }

    public CheckpointReader CheckpointReader { get; }

    public HostedCohorts Hosted { get; }

    public Player Player { get; }

    /// <summary>Hosts objects while they are used, and rebuilds those that have stopped.</summary>
    public CohortOpenings Cohorts { get; }

    public CallReader CallReader { get; }

    public ChangeWaits Changes { get; }
}
