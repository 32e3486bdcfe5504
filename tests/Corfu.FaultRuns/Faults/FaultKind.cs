namespace Corfu.FaultRuns.Faults;

internal enum FaultKind
{
    KillUnit,
    KillSequencer,
    KillAll,
    StopNode,
    KillClient,
    StopClient,
    Reconfigure,
    Loss,
    OneWayPartition,
    Isolate,
    Delay,
    BreakConnections,
    FullDisk,
    FailingSync,
    AbortedFileSystem,
    PowerCut,
}
