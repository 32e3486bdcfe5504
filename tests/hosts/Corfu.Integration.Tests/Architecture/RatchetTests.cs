using Microsoft.CodeAnalysis;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// Counts of what the house wants less of, over src and tests. Each limit may only fall: a change that removes some
/// lowers it, and none may raise it.
/// </summary>
public sealed class RatchetTests
{
    // A message that names more is not read.
    private const int Shown = 100;

    private static readonly Dictionary<string, Func<SyntaxTree, IEnumerable<Location>>> s_rules = new()
    {
        ["comments without a subject"] = SourceCounts.CommentsWithoutASubject,
        ["comment lines of rule numbers"] = SourceCounts.CommentLinesOfRuleNumbers,
        ["test names without a subject"] = SourceCounts.TestNamesWithoutASubject,
        ["methods above 60 lines"] = SourceCounts.LongMethods,
        ["constructors above 8 parameters"] = SourceCounts.WideConstructors,
    };

    private static readonly Lazy<SyntaxTree[]> s_trees = new(
    [
        .. Repository.Sources("src", "tests").Select(
            file => SourceCounts.Parse(Repository.Read(file), file)),
    ]);

    [Theory]
    [InlineData("comments without a subject", 0)]
    [InlineData("comment lines of rule numbers", 0)]
    [InlineData("test names without a subject", 0)]
    [InlineData("methods above 60 lines", 8)]
    [InlineData("constructors above 8 parameters", 2)]
    public void Count_over_the_repository_only_falls(string rule, int limit)
    {
        var found = s_trees.Value.SelectMany(s_rules[rule]).Select(Describe).ToArray();
        Assert.True(found.Length <= limit,
            $"{found.Length} {rule}, at most {limit} allowed.\n{string.Join('\n', found.Take(Shown))}");

        // Two changes that land together need not agree on a limit.
        var slack = 2 + found.Length / 20;
        Assert.True(limit <= found.Length + slack,
            $"{found.Length} {rule} are left of {limit}: lower the limit above to {found.Length}.");
    }

    [Fact]
    public void Comment_without_a_subject_is_found()
    {
        const string Source = """
            /// <summary>It is found.</summary>
            /// <param name="a"> Of the first line.</param>
            /// <param name="b">The second is not; so it goes on.</param>
            /// <returns>
            /// Those of the next line. <c>One</c> in code is not.
            /// </returns>
            class C
            {
                // One block,
                // It counts once.
                int _a; // What follows code.

                string S => "// It is text";
            }
            """;
        Assert.Equal(5, Count("comments without a subject", Source));
    }

    [Theory]
    [InlineData("// R2.", 1)]
    [InlineData("// R2, R7 and R13.\n// R4", 2)]
    [InlineData("/// <summary>Does.</summary>\n/// <remarks>R2.</remarks>", 1)]
    [InlineData("// A removed identity never returns (R2).", 0)]
    public void Comment_line_of_rule_numbers_is_found(string comment, int count) =>
        Assert.Equal(count, Count("comment lines of rule numbers", comment + "\nclass C;"));

    [Theory]
    [InlineData("[Fact] public void What_was_said_before_is_passed_over() { }", 1)]
    [InlineData("[Theory, InlineData(1)] public void Without_its_state_no_view_plays(int a) { }", 1)]
    [InlineData("[Fact] public void Torn_record_is_cut() { }", 0)]
    [InlineData("public void What_is_no_test() { }", 0)]
    public void Test_name_without_a_subject_is_found(string method, int count) =>
        Assert.Equal(count, Count("test names without a subject", $"class C {{ {method} }}"));

    [Theory]
    [InlineData(57, 0)]
    [InlineData(58, 1)]
    public void Long_method_is_found(int statements, int count)
    {
        // The first line and the two braces count.
        var body = string.Concat(Enumerable.Repeat("    ;\n", statements));
        Assert.Equal(count, Count("methods above 60 lines", $"class C\n{{\n[A]\nvoid M()\n{{\n{body}}}\n}}"));
    }

    [Theory]
    [InlineData("class C(int a, int b, int c, int d, int e, int f, int g, int h);", 0)]
    [InlineData("class C(int a, int b, int c, int d, int e, int f, int g, int h, int i);", 1)]
    [InlineData("class C { C(int a, int b, int c, int d, int e, int f, int g, int h, int i) { } }", 1)]
    [InlineData("record C(int A, int B, int C, int D, int E, int F, int G, int H, int I);", 0)]
    public void Wide_constructor_is_found(string type, int count) =>
        Assert.Equal(count, Count("constructors above 8 parameters", type));

    private static int Count(string rule, string source) =>
        s_rules[rule](SourceCounts.Parse(source, "A.cs")).Count();

    private static string Describe(Location location)
    {
        var line = location.GetLineSpan().StartLinePosition.Line;
        var text = location.SourceTree!.GetText().Lines[line].ToString().Trim();
        return $"{location.SourceTree.FilePath}:{line + 1}: {text}";
    }
}
