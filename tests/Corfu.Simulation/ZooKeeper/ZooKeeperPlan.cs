using System.Collections.Immutable;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A seed's plan for front ends of one tree: the log and its faults as in the runs of Tango, and times of
/// sessions.</summary>
internal sealed record ZooKeeperPlan(SeedPlan Log)
{
    /// <summary>Silence that ends a session.</summary>
    public required TimeSpan Timeout { get; init; }

    public required TimeSpan BeatInterval { get; init; }

    /// <summary>Silence of a front end, beyond a session's time-out, that ends its sessions.</summary>
    public required TimeSpan Lease { get; init; }

    /// <summary>Share of expiries that are sent late, and meet a session or a front end that has come back.</summary>
    public required double LateExpiries { get; init; }

    /// <summary>Paths that front ends mount while others serve, in this order; none: a tree of one partition.</summary>
    public required ImmutableArray<string> Mounts { get; init; }

    /// <summary>Clients, each with one session at a time.</summary>
    public required int Sessions { get; init; }

    /// <summary>The log is trimmed behind checkpoints, also under front ends that have not played so far.</summary>
    public required bool Overtakes { get; init; }

    public static ZooKeeperPlan Of(ulong seed)
    {
        SimRandom random = new SimRandom(seed).Split("zookeeper");
        SeedPlan log = SeedPlan.Of(seed);
        bool checkpoints = random.Chance(0.5);
        var beat = TimeSpan.FromMilliseconds(random.Pick([10, 30]));
        return new ZooKeeperPlan(log with
        {
            Kind = WorkloadKind.ZooKeeper,
            Agents = null,
            // Only agents notice that a disk is gone.
            Faults = [.. log.Faults.Where(fault => fault != FaultKind.LoseDisk)],
            Trims = false,
            Checkpoints = checkpoints,
            TwoVersions = false,
            Stumbles = false,
            Spills = false,
            Feeds = false,
            Deletes = false,
            Grows = false,
            Indexes = false,
            Clients = random.Between(2, 4),
            Workers = 1,
            Operations = random.Between(250, 500),
        })
        {
            Mounts = random.Split("mounts").Chance(0.5) ? ["/m0", "/m1"] : [],
            BeatInterval = beat,
            Lease = 4 * beat,
            Timeout = beat * random.Between(3, 10),
            Sessions = random.Between(3, 8),
            Overtakes = checkpoints && random.Chance(0.6),
            LateExpiries = random.Pick([0.1, 0.5]),
        };
    }
}
