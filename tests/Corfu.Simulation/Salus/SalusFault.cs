namespace Corfu.Simulation.Salus;

/// <summary>Faults of the block store's seeds. Each seed enables some of these; a sweep fails when a kind that its
/// seeds enable occurs in none of them.</summary>
internal enum SalusFault
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
    Pause,
    SlowScheduling,

    /// <summary>Wall clocks of machines differ.</summary>
    ClockSkew,

    /// <summary>A machine does not reach the log, and its Tango objects stand still.</summary>
    LogUnreachable,

    /// <summary>All machines lose power at once.</summary>
    PowerCutOfAll,

    /// <summary>A writer's process dies in the middle of its work, and another takes over.</summary>
    KillWriter,

    /// <summary>A writer stops for longer than its lease, goes on, and believes that it writes.</summary>
    StopWriter,

    /// <summary>A flush of a store fails. The process stops and is started again.</summary>
    FailedSync,

    /// <summary>Others take the space of a store's disk for a while.</summary>
    FullDisk,

    /// <summary>A store's disk is gone; the machine returns with a new store.</summary>
    LoseDisk,

    /// <summary>A store's disk shows what it held a while ago, with valid checks.</summary>
    OldDisk,

    /// <summary>The newest records of a store's log are gone without a trace.</summary>
    CutLog,

    /// <summary>Bits of a log turn over on the disk.</summary>
    FlipLog,

    /// <summary>Bits of checkpoint files turn over on the disk.</summary>
    FlipFile,

    /// <summary>Reads of a disk return turned bits now and then.</summary>
    Misread,

    /// <summary>A disk says that it has written, and has not: what it holds is gone with the power.</summary>
    LyingDisk,

    /// <summary>A region server answers nothing, and keeps its lease.</summary>
    Mute,

    /// <summary>A region server sends wrong bytes down the chain.</summary>
    FlipForward,

    /// <summary>A region server answers reads with wrong bytes.</summary>
    WrongAnswer,

    /// <summary>A region server takes batches, and sends records, in another order.</summary>
    Reorder,

    /// <summary>Bits of what a region server has checked turn over in its memory.</summary>
    FlipMemory,

    /// <summary>A region server tells wrong hashes of its tree.</summary>
    FlipTree,

    /// <summary>A primary sends two contents of one index.</summary>
    Equivocate,

    /// <summary>A region server answers reads as it did once.</summary>
    OldAnswer,

    /// <summary>A machine leaves out its newest batches: its region server in reports, its store in lists.</summary>
    ShortReport,

    /// <summary>A region server passes on certificates without the signatures of all.</summary>
    ShortCertificate,

    /// <summary>A store sends files with turned bits.</summary>
    WrongFile,

    /// <summary>A primary has others delete what is needed.</summary>
    AskDelete,

    /// <summary>The newest records of all copies of a region are gone without a trace, and all writers die: more than
    /// three copies bear. An operator gives up what is lost.</summary>
    LoseTail,

    /// <summary>As <see cref="LoseTail"/>, while the writers live: nothing that they were told may be gone without an
    /// operator's word.</summary>
    LoseTailAlive,

    /// <summary>After an operator has given up a lost tail, a disk comes back that has it.</summary>
    OldTail,
}
