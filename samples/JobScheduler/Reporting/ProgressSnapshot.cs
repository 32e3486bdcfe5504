using JobScheduler.App;

namespace JobScheduler.Reporting;

/// <summary>How far the run is.</summary>
public readonly record struct ProgressSnapshot(
    int JobsDone, int Jobs, long VirtualSeconds, int NodesInUse, int Nodes, long Transactions, long Aborts,
    TimeSpan Elapsed, SiloFigures? Silos = null);
