using System.Text.RegularExpressions;

namespace Corfu.Orleans.Tests.Docs;

/// <summary>docs/orleans.md shows code that is compiled here.</summary>
public sealed partial class OrleansPageTests
{
    [Fact]
    public void The_code_of_the_page_is_compiled()
    {
        var root = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root.FullName, "Corfu.slnx"))) root = root.Parent!;
        var page = File.ReadAllText(Path.Combine(root.FullName, "docs", "orleans.md"));
        var compiled = Join(string.Join("\n", Directory
            .EnumerateFiles(Path.Combine(root.FullName, "tests", "hosts", "Corfu.OrleansSilo"), "*.cs")
            .Append(Path.Combine(root.FullName, "tests", "hosts", "Corfu.Orleans.Tests", "Docs", "Documented.cs"))
            .Select(File.ReadAllText)));

        var blocks = Blocks().Matches(page);

        Assert.NotEmpty(blocks);
        Assert.All(blocks, block => Assert.Contains(Join(block.Groups[1].Value), compiled, StringComparison.Ordinal));
    }

    private static string Join(string code) => Space().Replace(code, " ").Trim();

    [GeneratedRegex("```csharp\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex Blocks();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
