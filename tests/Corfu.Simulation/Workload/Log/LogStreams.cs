namespace Corfu.Simulation.Workload.Log;

/// <summary>The streams of a run.</summary>
internal sealed class LogStreams(SeedPlan plan, Ledger ledger)
{
    private const int OperationsOfLastStream = 40;

    public StreamId[] All { get; } =
        [.. Enumerable.Range(0, plan.Streams).Select(i => new StreamId(StreamId.FirstRawValue + (ulong)i))];

    /// <summary>Streams that still get entries. Under trims the last one gets none after a while, so that all its
    /// entries may be trimmed.</summary>
    public StreamId[] Growing =>
        plan.Trims && ledger.Acknowledged >= OperationsOfLastStream ? All[..^1] : All;
}
