using System.Text.RegularExpressions;
using Tango.Ledgers.Tests.Support;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests.Docs;

/// <summary>docs/ledgers.md shows code that is compiled here, and runs.</summary>
public sealed partial class LedgerPageTests
{
    [Fact]
    public void Code_of_the_page_is_compiled()
    {
        var root = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root.FullName, "Corfu.slnx"))) root = root.Parent!;
        var page = File.ReadAllText(Path.Combine(root.FullName, "docs", "ledgers.md"));
        var compiled = Join(File.ReadAllText(Path.Combine(
            root.FullName, "tests", "services", "Tango.Ledgers.Tests", "Docs", "Documented.cs")));

        var blocks = Blocks().Matches(page);

        Assert.Equal(3, blocks.Count);
        Assert.All(blocks, block => Assert.Contains(Join(block.Groups[1].Value), compiled, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Code_of_the_page_hands_a_ledger_over()
    {
        await using var world = new LedgerWorld();
        var process = world.Start();
        var id = await Documented.BeginAsync(process.Connection, process.Runtime);
        using var elected = new CancellationTokenSource();
        List<string> applied = [];
        await Documented.TakeOverAsync(await world.OpenAsync(), id, Apply, () => applied.Count - 1, elected.Token);
        Assert.Equal(["first", "second"], applied);

        void Apply(LedgerEntry entry)
        {
            applied.Add(Text(entry));
            elected.Cancel();
        }
    }

    private static string Join(string code) => Space().Replace(code, " ").Trim();

    [GeneratedRegex("```csharp\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex Blocks();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
