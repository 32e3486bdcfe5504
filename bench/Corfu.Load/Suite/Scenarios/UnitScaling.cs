using Corfu.Hosting;

namespace Corfu.Load.Suite.Scenarios;

/// <summary>Appends to logs of more and more units.</summary>
internal sealed class UnitScaling : IScenario
{
    private const int InFlight = 256;
    private const int Size = 4096;

    private static readonly int[] s_units = [1, 2, 3, 4];

    public ScenarioInfo Info { get; } = new("units", "Units of the log",
        "Durable appends of 4,096 bytes, 256 in flight from two processes, to clusters of 1 to 4 unit processes "
        + "without replicas (CORFU's appends over units). Each cluster has baselines of its own.",
        "units", "appends", [PlotKind.Scaling, PlotKind.Percentiles]);

    public async Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken)
    {
        var points = new List<PointReport>();
        foreach (var units in s_units.Where(units => units is 1 or 3 || !run.Settings.Quick))
        {
            await using var cluster = await run.Clusters.StartAsync(
                new ClusterShape { Units = units, Replicas = 1 }, cancellationToken);
            var point = PointCase.Even("append", units, $"{units}", 2, InFlight, WorkloadKind.Append) with
            {
                IsDurable = true,
                Size = Size,
            };
            points.AddRange(await run.MeasureAsync(cluster.ConnectionString, [point], cancellationToken));
        }

        return new ScenarioResult(points);
    }
}
