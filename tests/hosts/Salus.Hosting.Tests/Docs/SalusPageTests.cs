using System.Text.RegularExpressions;

namespace Salus.Hosting.Tests.Docs;

/// <summary>docs/salus.md shows code that is compiled here.</summary>
public sealed partial class SalusPageTests
{
    [Fact]
    public void The_code_of_the_page_is_compiled()
    {
        var root = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root.FullName, "Corfu.slnx"))) root = root.Parent!;
        var page = File.ReadAllText(Path.Combine(root.FullName, "docs", "salus.md"));
        var compiled = Join(File.ReadAllText(Path.Combine(
            root.FullName, "tests", "hosts", "Salus.Hosting.Tests", "Docs", "Documented.cs")));

        var blocks = Blocks().Matches(page);

        Assert.Equal(3, blocks.Count);
        Assert.All(blocks, block => Assert.Contains(Join(block.Groups[1].Value), compiled, StringComparison.Ordinal));
    }

    private static string Join(string code) => Space().Replace(code, " ").Trim();

    [GeneratedRegex("```csharp\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex Blocks();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
