using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Tango.Generators.Tests;

/// <summary>docs/analyzers.md and the rules say the same.</summary>
public sealed class HelpPageTests
{
    private const string Page = "https://github.com/corfu-net/corfu/blob/main/docs/analyzers.md";

    private static readonly DiagnosticDescriptor[] s_rules =
    [
        .. typeof(TangoObjectAnalyzer).Assembly.GetType("Tango.Generators.Rules", throwOnError: true)!
            .GetFields(BindingFlags.Public | BindingFlags.Static)
            .Select(field => field.GetValue(null)).OfType<DiagnosticDescriptor>(),
    ];

    public static TheoryData<string> Ids => [.. s_rules.Select(rule => rule.Id)];

    [Fact]
    public void Each_rule_has_a_section_and_each_section_a_rule() =>
        Assert.Equal(
            s_rules.Select(rule => rule.Id).Order(StringComparer.Ordinal),
            Regex.Matches(Checkout.Read("docs/analyzers.md"), "^## (TANGO.*)$", RegexOptions.Multiline)
                .Select(match => match.Groups[1].Value));

    [Theory]
    [MemberData(nameof(Ids))]
    public void Section_link_and_release_file_agree_with_the_rule(string id)
    {
        DiagnosticDescriptor rule = Assert.Single(s_rules, rule => rule.Id == id);
        string title = rule.Title.ToString(CultureInfo.InvariantCulture);
        Assert.Contains($"## {id}\n\n{title}. {rule.Description.ToString(CultureInfo.InvariantCulture)}\n",
            Checkout.Read("docs/analyzers.md"), StringComparison.Ordinal);
        // GitHub makes this anchor of the heading.
        Assert.Equal($"{Page}#{id.ToLowerInvariant()}", rule.HelpLinkUri);
        Assert.Contains($"\n{id} | Tango | {rule.DefaultSeverity} | {title}\n",
            Checkout.Read("src/tango/Tango.Generators/AnalyzerReleases.Unshipped.md"), StringComparison.Ordinal);
    }
}
