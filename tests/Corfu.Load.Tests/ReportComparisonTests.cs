using Corfu.Load.Suite;
using Corfu.Load.Suite.Compare;

namespace Corfu.Load.Tests;

/// <summary>Regressions, and reports that cannot be compared.</summary>
public sealed class ReportComparisonTests
{
    private static readonly double[] s_steady = [0.48, 0.5, 0.5, 0.51, 0.52];

    [Theory]
    // Lower, but the rounds overlap.
    [InlineData(new[] { 0.30, 0.31, 0.32, 0.33, 0.48 }, nameof(Verdict.Same))]
    // No overlap, but less than the threshold.
    [InlineData(new[] { 0.46, 0.46, 0.46, 0.47, 0.47 }, nameof(Verdict.Same))]
    [InlineData(new[] { 0.40, 0.41, 0.42, 0.43, 0.44 }, nameof(Verdict.Regression))]
    [InlineData(new[] { 0.56, 0.57, 0.58, 0.59, 0.60 }, nameof(Verdict.Improvement))]
    public void Change_counts_if_large_and_without_overlap_of_the_rounds(double[] now, string verdict)
    {
        var comparison = ReportComparison.Of(
            Reports.Of(Reports.Scenario("append", s_steady)), Reports.Of(Reports.Scenario("append", now)));

        Assert.Equal(verdict, Assert.Single(comparison.Changes).Verdict.ToString());
        Assert.Equal(verdict == nameof(Verdict.Regression) ? 1 : 0, comparison.Regressions);
    }

    [Theory]
    [InlineData(0.40, nameof(Verdict.Same))]
    [InlineData(0.30, nameof(Verdict.Regression))]
    public void Few_rounds_need_a_larger_change(double now, string verdict)
    {
        var comparison = ReportComparison.Of(
            Reports.Of(Reports.Scenario("append", 0.5)), Reports.Of(Reports.Scenario("append", now)));

        Assert.Equal(verdict, Assert.Single(comparison.Changes).Verdict.ToString());
    }

    [Fact]
    public void The_ratio_counts_and_not_the_absolute_figure()
    {
        var slower = Reports.Point("series", 0.5, 0.5, 0.5);
        slower = slower with
        {
            Rounds = [.. slower.Rounds.Select(round => round with { Seconds = 20 })],
            Echo = [.. slower.Echo.Select(round => round with { Seconds = 20 })],
        };

        var comparison = ReportComparison.Of(
            Reports.Of(Reports.Scenario("append", 0.5, 0.5, 0.5)),
            Reports.Of(Reports.Scenario("append", 1) with { Points = [slower] }));

        Assert.Equal(0, Assert.Single(comparison.Changes).Change, 6);
    }

    [Fact]
    public void A_scenario_that_fails_now_is_a_regression()
    {
        var old = Reports.Of(Reports.Scenario("append", s_steady), Reports.Scenario("read", s_steady));
        var now = Reports.Of(Reports.Scenario("append", s_steady), Reports.Failed("read"));

        Assert.Equal(1, ReportComparison.Of(old, now).Regressions);
        Assert.Equal(0, ReportComparison.Of(now, now).Regressions);
    }

    [Fact]
    public void Points_of_one_report_only_are_named()
    {
        var old = Reports.Of(Reports.Scenario("append", s_steady), Reports.Scenario("read", s_steady));
        var now = Reports.Of(Reports.Scenario("append", s_steady), Reports.Scenario("check", s_steady));

        Assert.Equal(
            ["only in the old report: read, series, 1", "only in the new report: check, series, 1"],
            ReportComparison.Of(old, now).Notes);
    }

    [Fact]
    public void Reports_that_were_measured_differently_are_refused()
    {
        var full = Reports.Of(Reports.Scenario("append", s_steady));
        var quick = full with { Header = full.Header with { Quick = true } };
        var longer = full with { Header = full.Header with { Seconds = 3 } };
        var other = Reports.Of(Reports.Scenario("read", s_steady));

        Assert.Contains("quick", Assert.Throws<ReportException>(() => ReportComparison.Of(full, quick)).Message);
        Assert.Contains("1 s and of 3 s",
            Assert.Throws<ReportException>(() => ReportComparison.Of(full, longer)).Message);
        Assert.Contains("in common", Assert.Throws<ReportException>(() => ReportComparison.Of(full, other)).Message);
    }
}
