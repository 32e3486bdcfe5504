namespace Corfu.Load.Suite.Scenarios;

/// <summary>Appends that go to several streams at once.</summary>
internal sealed class MultiAppend : IScenario
{
    private const int InFlight = 64;

    private static readonly int[] s_streams = [1, 4, 16, 64];

    public ScenarioInfo Info { get; } = new("multiappend", "Appends to several streams",
        "Durable appends of 128 bytes, each to 1 to 64 of 1,024 streams, 64 in flight from two processes.",
        "streams of an append", "appends", [PlotKind.Scaling, PlotKind.Percentiles]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_streams.Select(streams => PointCase.Even("append", streams, $"{streams}", 2, InFlight,
            WorkloadKind.MultiAppend, _ => new WorkloadSetting { Streams = streams }) with
        {
            IsDurable = true,
            InQuick = streams is 1 or 16,
        }), cancellationToken);
}
