namespace Corfu.Simulation.Craq;

/// <summary>Faults of the object store's seeds. Each seed enables some of these; a sweep fails when a kind that its
/// seeds enable occurs in none of them.</summary>
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

    /// <summary>An operator removes members. They stay out, or come back with old data where agents run.</summary>
    Remove,

    Reorder,
    SetOptions,

    /// <summary>All members lose power at once.</summary>
    PowerCutOfAll,

    /// <summary>Clients repeat old writes by their ids.</summary>
    WildRequests,

    /// <summary>A member and one client are cut off together from all other machines and from the log, and an operator
    /// removes that member (C6).</summary>
    CutOff,

    /// <summary>A flush of a node's log fails. The node says so and is started again.</summary>
    FailedFlush,

    /// <summary>Others take the space of a node's disk for a while.</summary>
    FullDisk,

    /// <summary>A node's disk is lost and replaced by an empty one, under a new identity or, by an operator's mistake,
    /// under the same (C19). An operator takes the lost one out of its chains.</summary>
    LoseDisk,

    /// <summary>An operator drains a node for a while.</summary>
    Drain,

    /// <summary>Values beside the chain and marks of its tail are lost more often than other messages.</summary>
    LostRelay,

    /// <summary>Objects reach a learner late, behind records that were written after them (C11).</summary>
    LateCopies,

    /// <summary>A node dies while it learns, or right behind that: it starts again from the data that it came back
    /// with and what it has learned (C10).</summary>
    KillLearner,
}
