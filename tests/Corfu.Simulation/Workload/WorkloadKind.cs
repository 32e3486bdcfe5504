namespace Corfu.Simulation.Workload;

public enum WorkloadKind
{
    /// <summary>Appends, reads, checks, fills, trims and stream walks straight on the log.</summary>
    Log,

    /// <summary>Tango runtimes with transactions over registers, a dictionary and a bank.</summary>
    Tango,

    /// <summary>Tango runtimes that share a lock, a work queue and numbered slots.</summary>
    Coordination,

    /// <summary>Front ends of one ZooKeeper tree, and sessions that move between them.</summary>
    ZooKeeper,

    /// <summary>A state machine or a store of ledgers, shared by processes.</summary>
    Services,
}
