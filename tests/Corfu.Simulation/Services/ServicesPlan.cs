using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Services;

/// <summary>A seed's plan for services on the log: the log and its faults as in the runs of Tango.</summary>
internal sealed record ServicesPlan(SeedPlan Log)
{
    public required ServiceKind Service { get; init; }

    /// <summary>Clients of the machine, whose sessions go on at other replicas.</summary>
    public required int Users { get; init; }

    public required int MaxSessions { get; init; }

    /// <summary>Commands after which a snapshot is due.</summary>
    public required int SnapshotCommands { get; init; }

    /// <summary>How often a command is sent before its user is told that it is in doubt.</summary>
    public required int Attempts { get; init; }

    /// <summary>The log goes below what the service needs no more: two snapshots, the oldest ledger, or the
    /// oldest value.</summary>
    public required bool Trims { get; init; }

    public required StorePlan Store { get; init; }

    public static ServicesPlan Of(ulong seed)
    {
        SimRandom random = new SimRandom(seed).Split("services");
        SeedPlan log = SeedPlan.Of(seed);
        bool isMachine = random.Chance(0.5);
        // Drawn apart: the other seeds stay what they are.
        ServiceKind service = new SimRandom(seed).Split("store").Chance(1 / 3.0) ? ServiceKind.Store
            : isMachine ? ServiceKind.Machine : ServiceKind.Ledgers;
        int users = random.Between(2, 6);
        StorePlan store = StorePlan.Draw(new SimRandom(seed).Split("store workload"));
        return new ServicesPlan(log with
        {
            Kind = WorkloadKind.Services,
            Agents = null,
            // Only agents notice that a disk is gone.
            Faults = [.. log.Faults.Where(fault => fault != FaultKind.LoseDisk)],
            Trims = false,
            Checkpoints = service != ServiceKind.Machine,
            TwoVersions = false,
            Stumbles = false,
            Spills = false,
            Feeds = false,
            Deletes = false,
            Grows = false,
            Indexes = false,
            Clients = random.Between(2, 4),
            Workers = random.Between(1, 3),
            Operations = random.Between(200, 500),
            // Ledgers need room for their spines.
            Store = SeedPlan.SmallStore(128 << 10, (int)(log.Store.SegmentSize / log.Store.LogPageSize),
                log.Store.CheckpointRecords),
            OperationTimeout = service == ServiceKind.Store ? store.OperationTimeout : log.OperationTimeout,
        })
        {
            Service = service,
            Users = users,
            MaxSessions = random.Chance(0.3) ? users : 64,
            SnapshotCommands = random.Pick([10, 30, 100]),
            Trims = random.Chance(0.6),
            Attempts = random.Pick([1, 3]),
            Store = store,
        };
    }
}

/// <summary>Which service a seed has.</summary>
internal enum ServiceKind
{
    /// <summary>A state machine with a replica in each process.</summary>
    Machine,

    /// <summary>A store of ledgers.</summary>
    Ledgers,

    /// <summary>A key-value store.</summary>
    Store,
}
