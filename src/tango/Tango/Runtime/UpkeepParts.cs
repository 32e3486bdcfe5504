using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;
using Tango.Upkeep;

namespace Tango.Runtime;

/// <summary>The parts of a runtime that work by themselves: checkpoints, trim, claims, leases, and playback while no
/// caller uses the runtime. They listen to playback.</summary>
internal sealed class UpkeepParts
{
    /// <param name="directory">The handle of the directory.</param>
    /// <param name="newLeaseHandle">Makes a handle of a hosted object, by the user's constructor.</param>
    public UpkeepParts(RuntimeEnvironment given, ulong runtime, PlaybackParts playback, TangoDirectory directory,
        Func<HostedObject, ITangoLeased> newLeaseHandle, RuntimeLifetime lifetime)
    {
        var (log, _, options, time, _, loops, logger) = given;
        var (player, cohorts, chores) = (playback.Player, playback.Cohorts, playback.Chores);
        Trimmer = new Trimmer(log, directory, time, loops, logger);
        Counted = new CountedCheckpoints(
            new CheckpointWriter(log, runtime, options), playback.CheckpointReader, directory, playback.Directory);
        Maker = new CheckpointMaker(
            player, playback.Hosted, playback.Directory, cohorts.Beside, options.Types, Counted,
            new ClaimHolders(cohorts.Beside, lifetime.Token), lifetime);
        var checkpointer = new Checkpointer(
            runtime, options.Checkpoints, playback.Directory, Maker, Trimmer, chores, logger, lifetime.Token);
        player.Played += checkpointer.OnPlayed;
        player.Left += checkpointer.Unwatch;
        cohorts.Opened += checkpointer.Watch;
        if (options.IdlePlayback is { } period)
            player.Played += new QuietPlayback(player, period, chores).OnPlayed;
        var leases = new LeaseWatch(runtime, player, newLeaseHandle, time, chores, logger, lifetime.Token);
        player.Played += leases.OnPlayed;
        player.Left += leases.Unwatch;
        player.Grown += leases.Watch;
        cohorts.Opened += leases.Watch;
    }

    public Trimmer Trimmer { get; }

    public CountedCheckpoints Counted { get; }

    public CheckpointMaker Maker { get; }
}
