namespace Corfu.Simulation.Workload;

/// <summary>Faults that can happen. Each seed enables some of these; every kind that a run enables must really occur in
/// it.</summary>
public enum FaultKind
{
    Loss,
    Duplication,
    LongDelay,
    Reordering,
    PartitionOneWay,
    PartitionSymmetric,
    Clog,
    BrokenConnection,
    KillUnit,
    PowerCut,
    TornWrite,
    LostWrite,
    SlowFlush,
    KillSequencer,
    KillClient,
    Pause,
    SlowScheduling,
    ClockSkew,
    Reconfigure,
    StuckWrites,
    ReplaceUnit,
    AddCapacity,
    LoseDisk,
    Migrate,
    Reshape,
    Scrub,
    FailedFlush,
    Misread,
    FullDisk,
    DamagedPage,
    WildPositions,
}
