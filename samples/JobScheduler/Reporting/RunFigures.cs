using JobScheduler.App;

namespace JobScheduler.Reporting;

/// <summary>Figures that this process measured; the log knows the rest.</summary>
/// <param name="Elapsed">From the first scheduling step to the last.</param>
/// <param name="Committed">Transactions committed by this process.</param>
/// <param name="Aborted">Transactions of this process that lost to another one and were planned anew.</param>
/// <param name="AppendMedian">p50 of a durable append with one in flight, on the same cluster in the same run.</param>
/// <param name="Resumed">Jobs that an earlier process had finished already.</param>
/// <param name="Silos">Null: the replicas worked in this process.</param>
public sealed record RunFigures(
    TimeSpan Elapsed, long Committed, long Aborted, TimeSpan AppendMedian, int Resumed, SiloFigures? Silos = null);
