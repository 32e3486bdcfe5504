using System.Globalization;
using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>docs/rules.md defines the rules that everything else cites, and says what covers each.</summary>
public sealed partial class RuleTests
{
    private const int Rules = 33;

    private static readonly string s_page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "rules.md"));

    // Number of a rule and its text, without the heading's mark.
    private static readonly Dictionary<int, string> s_rules = Regex
        .Split(s_page, @"^##+ ", RegexOptions.Multiline)
        .Select(part => (Match: Regex.Match(part, @"^R(\d+) "), Text: part))
        .Where(part => part.Match.Success)
        .ToDictionary(part => Number(part.Match), part => part.Text);

    private static readonly HashSet<int> s_later =
        [.. Cited(Section("Not implemented yet").Split('.')[0])];

    // The name, rules and checker of each planted bug.
    private static readonly (string Name, string Rule, string Checker)[] s_bugs =
    [
        .. Regex
            .Matches(
                Repository.Read(Path.Combine("tests", "Corfu.Simulation", "Runner", "PlantedBugs.cs")),
                """new\(\s*"([a-z0-9-]+)",\s*"([^"]+)",\s*"[^"]+",\s*CheckerNames\.(\w+)""")
            .Select(m => (m.Groups[1].Value, m.Groups[2].Value, m.Groups[3].Value)),
    ];

    // The rules that each source cites.
    private static readonly Lazy<(string File, int[] Rules)[]> s_citations = new(() =>
    [
        .. Repository.Sources("src", "samples", "bench", "tests").Concat(Pages())
            .Select(file => (file, Cited(Repository.Read(file)).Distinct().ToArray())),
    ]);

    public static TheoryData<int> Implemented => [.. Enumerable.Range(1, Rules).Except(s_later)];

    [Fact]
    public void Every_rule_is_defined_once() => Assert.Equal(Enumerable.Range(1, Rules), s_rules.Keys.Order());

    [Fact]
    public void Every_citation_resolves()
    {
        foreach (var (file, rules) in s_citations.Value)
        {
            foreach (var number in rules)
                Assert.True(s_rules.ContainsKey(number),
                    $"{file} cites R{number}, which docs/rules.md does not define.");
        }
    }

    [Theory]
    [MemberData(nameof(Implemented))]
    public void A_rule_is_cited_by_code_and_by_a_test_and_has_a_planted_bug(int number)
    {
        Assert.Contains(number, CitedIn("src"));
        Assert.Contains(number, CitedIn("tests"));
        Assert.Contains(s_bugs, bug => Cited(bug.Rule).Contains(number));
    }

    [Fact]
    public void A_rule_that_is_not_implemented_has_no_planted_bug()
    {
        Assert.DoesNotContain(s_bugs, bug => Cited(bug.Rule).Any(s_later.Contains));
    }

    [Theory]
    [MemberData(nameof(Implemented))]
    public void Page_names_the_planted_bugs_of_a_rule_with_the_checkers(int number)
    {
        var planted = Field(number, "Planted");
        var named = Regex.Matches(planted, @"`([a-z0-9-]+)`\s+\(([a-z-]+)\)")
            .Select(m => $"{m.Groups[1].Value} {m.Groups[2].Value}");
        var known = s_bugs.Where(bug => Cited(bug.Rule).Contains(number))
            .Select(bug => $"{bug.Name} {Kebab(bug.Checker)}");
        Assert.Equal(known.Order(StringComparer.Ordinal), named.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Page_names_the_planted_bugs_of_invariants_without_a_number()
    {
        var rows = Section("Invariants without a number");
        foreach (var bug in s_bugs.Where(bug => !Cited(bug.Rule).Any()))
            Assert.Matches($@"\| {Regex.Escape(bug.Rule)} \|.*`{bug.Name}` \({Kebab(bug.Checker)}\)", rows);
    }

    [Theory]
    [MemberData(nameof(Implemented))]
    public void The_code_that_a_rule_names_exists(int number)
    {
        foreach (Match name in Regex.Matches(Field(number, "Code"), "`([A-Za-z]+)`"))
        {
            var type = name.Groups[1].Value;
            Assert.True(Repository.Types.Contains(type), $"R{number}: src has no type {type}.");
        }
    }

    private static IEnumerable<int> CitedIn(string folder) => s_citations.Value
        .Where(source => source.File.StartsWith(folder, StringComparison.Ordinal) && !IsList(source.File))
        .SelectMany(source => source.Rules);

    private static bool IsList(string file) =>
        file.EndsWith("PlantedBugs.cs", StringComparison.Ordinal)
        || file.EndsWith("RuleTests.cs", StringComparison.Ordinal);

    private static IEnumerable<string> Pages() =>
        Directory.EnumerateFiles(Path.Combine(Repository.Root, "docs"), "*.md", SearchOption.AllDirectories)
            .Select(file => Path.GetRelativePath(Repository.Root, file));

    private static string Section(string title) =>
        Regex.Match(s_page, $@"^## {Regex.Escape(title)}\n(.*?)(?=^## |\z)",
            RegexOptions.Multiline | RegexOptions.Singleline)
            .Groups[1].Value;

    private static string Field(int number, string name) =>
        Regex.Match(s_rules[number], $@"^- {name}: (.*?)(?=^- |^$|\z)",
            RegexOptions.Multiline | RegexOptions.Singleline)
            .Groups[1].Value;

    // In text as R7, in the names of tests as R7_a_sequencer...
    private static IEnumerable<int> Cited(string text) => Citation().Matches(text).Select(Number);

    private static int Number(Match match) => int.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture);

    private static string Kebab(string checker) =>
        Regex.Replace(checker, "(?<=[a-z])[A-Z]", m => "-" + m.Value).ToLowerInvariant();

    [GeneratedRegex(@"\bR(\d{1,2})(?=_|\b)")]
    private static partial Regex Citation();
}
