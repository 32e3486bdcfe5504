using System.Text;

namespace Corfu.Newcomer;

/// <summary>
/// The C# blocks of pages, as files. The line above a block names its file: <c>&lt;!-- Shop/Stock.cs --&gt;</c>, or
/// <c>&lt;!-- more of Shop/Program.cs --&gt;</c> for a block that goes on where the file's last one ended. One page has
/// all blocks of a file; others may repeat them word for word. So every block of every page is compiled.
/// </summary>
internal static class Snippets
{
    private const string More = "more of ";

    public static List<string> Extract(string[] pages, string folder)
    {
        var files = new Dictionary<string, List<Block>>();
        var faults = new List<string>();
        foreach (var block in pages.SelectMany(page => Blocks(page, faults)))
        {
            if (Place(block, files) is { } fault) faults.Add($"{block.Page}({block.Line}): {fault}");
        }

        foreach (var (name, blocks) in files)
        {
            var path = Path.Combine(folder, name);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllText(path, string.Join("\n", blocks.Select(block => block.Text)));
        }

        return faults;
    }

    /// <returns>The fault of the block, or null.</returns>
    private static string? Place(Block block, Dictionary<string, List<Block>> files)
    {
        if (!files.TryGetValue(block.File, out var blocks))
        {
            files.Add(block.File, [block]);
            return block.IsMore ? $"{block.File} has no block before this one." : null;
        }

        var page = blocks[0].Page;
        if (page != block.Page)
            return blocks.Any(shown => shown.Text == block.Text) ? null : $"{page} shows {block.File} otherwise.";
        blocks.Add(block);
        return block.IsMore ? null : $"{block.File} has a block already. One that goes on is '{More}' it.";
    }

    private static IEnumerable<Block> Blocks(string page, List<string> faults)
    {
        var lines = File.ReadAllLines(page);
        for (var i = 0; i < lines.Length; i++)
        {
            if (lines[i].Trim() is not ("```csharp" or "```cs" or "```c#")) continue;
            var line = i + 1;
            var above = i > 0 ? lines[i - 1] : "";
            var name = above is ['<', '!', '-', '-', ' ', .. var inner, ' ', '-', '-', '>'] ? inner : null;
            var text = new StringBuilder();
            while (++i < lines.Length && lines[i].Trim() != "```") text.Append(lines[i]).Append('\n');
            if (name is null)
            {
                faults.Add($"{page}({line}): the line above the block does not name its file.");
                continue;
            }

            var isMore = name.StartsWith(More, StringComparison.Ordinal);
            yield return new Block(page, line, isMore ? name[More.Length..] : name, isMore, text.ToString());
        }
    }

    private sealed record Block(string Page, int Line, string File, bool IsMore, string Text);
}
