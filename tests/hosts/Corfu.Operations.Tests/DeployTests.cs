using System.Text.Json;
using System.Text.RegularExpressions;

namespace Corfu.Operations.Tests;

/// <summary>Rules and dashboards name metrics that exist, and alerts name sections of the runbook that exist.</summary>
public sealed partial class DeployTests
{
    private const string Rules = "deploy/prometheus/corfu.rules.yml";

    // Prometheus' own, and what a scrape says of itself.
    private static readonly string[] s_known = ["up"];

    [Fact]
    public void Alert_has_a_section_of_the_runbook()
    {
        var headings = Repo.Read("docs/operations.md").Split('\n')
            .Where(line => line.StartsWith('#')).Select(line => Anchor(line.TrimStart('#', ' '))).ToHashSet();
        var rules = Repo.Read(Rules);
        var alerts = Alerts().Matches(rules).Select(match => match.Groups[1].Value).ToList();
        var runbooks = Runbooks().Matches(rules).Select(match => match.Groups[1].Value).ToList();
        Assert.Equal(27, alerts.Count);
        Assert.Equal(alerts.Select(Anchor), runbooks);
        Assert.Empty(runbooks.Except(headings));
    }

    [Fact]
    public void Alert_is_raised_by_a_series_of_the_rules_tests()
    {
        var tested = Repo.Read("deploy/prometheus/corfu.test.yml");
        var alerts = Alerts().Matches(Repo.Read(Rules)).Select(match => match.Groups[1].Value).Distinct();
        Assert.All(alerts,
            alert => Assert.Contains($"alertname: {alert}\n", tested, StringComparison.Ordinal));
    }

    [Fact]
    public void Metric_of_a_rule_exists() =>
        Assert.Empty(NamesIn(Repo.Read(Rules)).Except(PublishedInstruments.Series).Except(s_known));

    [Fact]
    public void Metric_of_the_dashboard_exists()
    {
        using var dashboard = JsonDocument.Parse(Repo.Read("deploy/grafana/corfu.json"));
        var panels = dashboard.RootElement.GetProperty("panels").EnumerateArray().ToList();
        var rows = panels.Where(panel => panel.GetProperty("type").GetString() == "row")
            .Select(panel => panel.GetProperty("title").GetString());
        Assert.Equal(
            ["Verdict", "Appends", "Units", "Layout and agents", "Transactions", "Clients", "Certificates", "Backups"],
            rows);
        var queries = from panel in panels
                      where panel.TryGetProperty("targets", out _)
                      from target in panel.GetProperty("targets").EnumerateArray()
                      select target.GetProperty("expr").GetString()!;
        var names = queries.SelectMany(NamesIn).ToHashSet();
        Assert.NotEmpty(names);
        Assert.Empty(names.Except(PublishedInstruments.Series));
    }

    [Fact]
    public async Task Rules_pass_promtool_and_each_series_raises_an_alert()
    {
        var folder = Path.Combine(Repo.Root, "deploy/prometheus");
        await PromTool.RunAsync(null, "check", "rules", Path.Combine(folder, "corfu.rules.yml"));
        await PromTool.RunAsync(null, "test", "rules", Path.Combine(folder, "corfu.test.yml"));
    }

    // Attributes begin like metrics, and stand behind "by", in braces or in templates.
    private static IEnumerable<string> NamesIn(string text) =>
        Names().Matches(Grouped().Replace(Braces().Replace(Comments().Replace(text, ""), ""), ""))
            .Select(match => match.Value).Distinct();

    private static string Anchor(string heading) =>
        NoLetters().Replace(heading.Trim().ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex(@"- alert: (\w+)")]
    private static partial Regex Alerts();

    [GeneratedRegex(@"runbook: docs/operations\.md#(\S+)")]
    private static partial Regex Runbooks();

    [GeneratedRegex(@"\b(?:corfu|tango|salus)_\w+")]
    private static partial Regex Names();

    [GeneratedRegex(@"(?:summary|runbook): .*|#.*")]
    private static partial Regex Comments();

    [GeneratedRegex(@"\{[^}]*\}")]
    private static partial Regex Braces();

    [GeneratedRegex(@"\b(?:by|without|on) \([^)]*\)")]
    private static partial Regex Grouped();

    [GeneratedRegex(@"[^a-z0-9 -]")]
    private static partial Regex NoLetters();
}
