using System.CommandLine;

namespace Corfu.Load.Tests;

/// <summary>Options of <c>craq</c>, and the page that it writes.</summary>
public sealed class CraqCommandTests
{
    private static readonly RunInfo s_run = new("2 x P", "abc", ".NET", DateTimeOffset.UnixEpoch);

    [Theory]
    [InlineData("--section", "reads")]
    [InlineData("--section", "dirty", "peers", "--rounds", "3", "--seconds", "0.5", "--size", "128")]
    [InlineData("--report", "craq.md", "--dir", "data")]
    public void Craq_options_are_taken(params string[] arguments) =>
        Assert.Empty(CraqCommand.Create().Parse(arguments).Errors);

    [Theory]
    [InlineData("--section", "read")]
    [InlineData("--rounds", "0")]
    [InlineData("--seconds", "0")]
    [InlineData("--seconds", "-1")]
    [InlineData("--size", "0")]
    [InlineData("--unknown", "1")]
    public void Craq_options_out_of_range_are_refused(params string[] arguments) =>
        Assert.NotEmpty(CraqCommand.Create().Parse(arguments).Errors);

    [Fact]
    public void Plan_without_sections_has_all_in_order()
    {
        Assert.Equal(CraqPlan.All, CraqPlan.Of(5, 2, 500, []).Sections);
        Assert.Equal(
            [CraqPlan.Reads, CraqPlan.Peers], CraqPlan.Of(5, 2, 500, [CraqPlan.Peers, CraqPlan.Reads]).Sections);
    }

    [Fact]
    public void Report_has_tables_problems_and_the_summary()
    {
        var section = new CraqSection(CraqPlan.Reads, "Reads");
        section.Note("A note.");
        section.Columns("chain", "reads/s");
        section.Row("CRAQ-3", Cell.Count(12345));
        section.Sum("clean_3", 12345.6);
        section.Sum("echo", 2);
        section.Problem("nothing was dirty");
        var other = new CraqSection(CraqPlan.Dirty, "Dirty");
        other.Sum("echo", 3);
        other.Sum("dirty_ratio", 0.912, "0.00");
        var report = new CraqReport(s_run, CraqPlan.Of(5, 2, 500, [CraqPlan.Reads, CraqPlan.Dirty]),
            [section, other]);

        Assert.Equal("craq clean_3=12346 echo=2 dirty_ratio=0.91 problems=1", report.Summary);
        var page = report.ToMarkdown();
        Assert.Contains("### Reads\n\nA note.\n\n| chain | reads/s |\n|---|---|\n| CRAQ-3 | 12,345 |\n", page);
        Assert.Contains("**Not valid**: nothing was dirty.", page);
        Assert.Contains("`Corfu.Load craq --rounds 5 --seconds 2 --size 500 --section reads dirty`", page);
        Assert.Contains(report.Summary, page);
    }

    [Fact]
    public void Section_names_failed_operations_and_empty_rounds()
    {
        var measured = new CraqMeasured([Point("good"), Point("failing"), Point("empty")]);
        measured["good"].Add(Sample(operations: 10));
        measured["failing"].Add(Sample(operations: 10, failures: 2));
        measured["empty"].Add(Sample(operations: 0));
        var section = new CraqSection(CraqPlan.Reads, "Reads");

        section.Check(measured);

        Assert.Equal(["failing: 2 operations failed", "empty: a round without an operation"], section.Problems);
    }

    [Fact]
    public void Figures_of_a_point_are_medians_of_the_rounds()
    {
        var rounds = new CraqRounds(Point("one"));
        var baseline = new CraqRounds(Point("other"));
        foreach (var operations in new[] { 100, 300, 200 })
        {
            rounds.Add(Sample(operations, nodes: [0.5, 1, 0.1], counts: [new(50, 40, 0, 0), new(50, 20, 0, 25)]));
            baseline.Add(Sample(operations / 2, nodes: [2, 1, 1]));
        }

        Assert.Equal(200, rounds.Capacity);
        Assert.Equal(4, rounds.CapacityRatio(baseline));
        Assert.Equal(2, rounds.Ratio(baseline, static result => result.PerSecond));
        Assert.Equal(0.6, rounds.DirtyShare);
        Assert.Equal(0.5, rounds.QueriesPerRead);
        Assert.Equal(25, rounds.QueriesPerSecond);
        Assert.Equal(1.6e6 / 200, rounds.NodeMicroseconds, 6);
        Assert.Null(rounds.Beside);
    }

    private static CraqPoint Point(string name) => new(name, WorkloadKind.CraqGet, 64, 500);

    private static CraqSample Sample(
        long operations, long failures = 0, double[]? nodes = null, NodeCounts[]? counts = null) =>
        new(new RoundResult(operations, 1, 1, 1, 1, failures), null, nodes ?? [1], 1, counts ?? []);
}
