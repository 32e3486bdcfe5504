namespace Corfu.Simulation.Craq;

/// <summary>Faults of a run of the object store. Each seed enables some of these; every kind that a run enables must
/// really occur in it.</summary>
internal enum CraqFault
{
    Loss,
    Duplication,
    LongDelay,
    Reordering,
    PartitionOneWay,
    PartitionSymmetric,
    Clog,
    BrokenConnection,
    KillNode,
    PowerCut,
    TornWrite,
    LostWrite,
    SlowFlush,
    KillClient,
    Pause,
    SlowScheduling,

    /// <summary>A machine does not reach the log, and its view of the directory stands still.</summary>
    LogUnreachable,

    /// <summary>An operator or agent removes members; they learn again, and come back at any place.</summary>
    Remove,

    Reorder,
    SetOptions,

    /// <summary>All members lose power at once.</summary>
    PowerCutOfAll,

    /// <summary>A client asks wrong nodes, old epochs and unknown chains, and repeats old writes.</summary>
    WildRequests,
}
