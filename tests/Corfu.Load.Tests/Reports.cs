using Corfu.Load.Suite;

namespace Corfu.Load.Tests;

/// <summary>Reports made by hand.</summary>
internal static class Reports
{
    public const double EchoPerSecond = 1000;

    public static SuiteReport Of(params ScenarioReport[] scenarios) => new(
        SuiteReport.FileKind, SuiteReport.FileFormat,
        new SuiteHeader("machine", 2, "kernel", "runtime", "commit", "Corfu.Load all", DateTimeOffset.UnixEpoch, false,
            5, 1, 60),
        scenarios);

    /// <summary>A scenario with one point, whose rounds have these parts of the echo.</summary>
    public static ScenarioReport Scenario(string name, params double[] ratios) => new(
        new ScenarioInfo(name, "A title", "A text.", "callers", "operations",
            [PlotKind.LoadCurve, PlotKind.Scaling, PlotKind.Percentiles, PlotKind.Timeline]),
        [Point("series", ratios)], [], 1);

    public static ScenarioReport Failed(string name) =>
        Scenario(name, 1) with { Points = [], Error = "IOException: <gone>" };

    public static PointReport Point(string series, params double[] ratios) => new(
        series, 1, "1", Baseline.Echo,
        [.. ratios.Select(ratio => Round(ratio * EchoPerSecond))],
        [.. ratios.Select(_ => Round(EchoPerSecond))], [],
        [new PercentilePoint(50, 10), new PercentilePoint(90, 50), new PercentilePoint(99, 90)]);

    public static RoundResult Round(double perSecond) => new((long)(perSecond * 10), 10, 10, 90, 99, 0);
}
