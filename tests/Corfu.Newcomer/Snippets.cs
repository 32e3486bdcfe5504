using System.Text;

namespace Corfu.Newcomer;

/// <summary>
/// The C# blocks of pages, as files. The line above a block names its file: <c>&lt;!-- Shop/Stock.cs --&gt;</c>, or
/// <c>&lt;!-- more of Shop/Program.cs --&gt;</c> for a block that goes on where the page's last one of that file ended.
/// A block that an earlier page has shown may be repeated, word for word. So every block of every page is compiled.
/// </summary>
internal static class Snippets
{
    private const string More = "more of ";

    public static List<string> Extract(string[] pages, string folder)
    {
        var files = new Dictionary<string, List<string>>();
        var faults = new List<string>();
        foreach (var page in pages)
        {
            var begun = new HashSet<string>();
            foreach (var block in Blocks(page, faults)) Place(block, files, begun, faults);
        }

        foreach (var (name, blocks) in files)
        {
            var path = Path.Combine(folder, name);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllText(path, string.Join("\n", blocks));
        }

        return faults;
    }

    private static void Place(Block block, Dictionary<string, List<string>> files, HashSet<string> begun,
        List<string> faults)
    {
        if (block.IsMore)
        {
            if (begun.Contains(block.File)) files[block.File].Add(block.Text);
            else faults.Add($"{block.Place}: there is no earlier block of {block.File} on this page.");
        }
        else if (!begun.Add(block.File))
        {
            faults.Add($"{block.Place}: {block.File} has a block already. A block that goes on is '{More}' it.");
        }
        else if (!files.TryAdd(block.File, [block.Text]) && !files[block.File].Contains(block.Text))
        {
            faults.Add($"{block.Place}: {block.File} differs from what an earlier page shows.");
        }
    }

    private static IEnumerable<Block> Blocks(string page, List<string> faults)
    {
        var lines = File.ReadAllLines(page);
        for (var i = 0; i < lines.Length; i++)
        {
            if (lines[i].Trim() is not ("```csharp" or "```cs" or "```c#")) continue;
            var place = $"{Path.GetFileName(page)}({i + 1})";
            var above = i > 0 ? lines[i - 1] : "";
            var name = above is ['<', '!', '-', '-', ' ', .. var inner, ' ', '-', '-', '>'] ? inner : null;
            var text = new StringBuilder();
            while (++i < lines.Length && lines[i].Trim() != "```") text.Append(lines[i]).Append('\n');
            if (name is null)
            {
                faults.Add($"{place}: the line above the block does not name its file.");
                continue;
            }

            var isMore = name.StartsWith(More, StringComparison.Ordinal);
            yield return new Block(place, isMore ? name[More.Length..] : name, isMore, text.ToString());
        }
    }

    private sealed record Block(string Place, string File, bool IsMore, string Text);
}
