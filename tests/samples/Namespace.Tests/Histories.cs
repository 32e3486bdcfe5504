using System.Globalization;
using System.Text;
using NamespaceSample.History;

namespace NamespaceSample.Tests;

/// <summary>Histories of a few files in a few directories of both partitions, with all that real ones have: swaps,
/// chains, files that become directories, renames of all of a directory.</summary>
internal static class Histories
{
    private static readonly string[] s_directories = ["src", "docs", "src/main", "docs/main", "zookeeper", "bin"];

    public static string Random(int seed, int changes)
    {
        var random = new Random(seed);
        var files = new SortedSet<string>(StringComparer.Ordinal);
        var text = new StringBuilder();
        for (int i = 1; i <= changes; i++)
        {
            text.Append(CultureInfo.InvariantCulture, $"T c{i} {i * 10}\n");
            foreach (string line in Change(random, files, i)) text.Append(line).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>The history as read from a file.</summary>
    public static IReadOnlyList<HistoryChange> Read(string text)
    {
        using var file = new TextFile(text);
        return HistoryReader.ReadFile(file.Path);
    }

    private static List<string> Change(Random random, SortedSet<string> files, int number)
    {
        string[] before = [.. files];
        string Any() => before[random.Next(before.Length)];
        string New(int i) => $"{s_directories[random.Next(s_directories.Length)]}/f{number}-{i}";
        List<string> lines = [];
        switch (before.Length < 4 ? 0 : random.Next(8))
        {
            case 0:
            case 1:
                for (int i = random.Next(1, 4); i > 0; i--)
                {
                    string added = New(i);
                    files.Add(added);
                    lines.Add($"A\t{added}");
                }

                break;
            case 2:
                lines.AddRange(before.Where(_ => random.Next(3) == 0).Select(file => $"M\t{file}"));
                break;
            case 3:
                string deleted = Any();
                files.Remove(deleted);
                lines.Add($"D\t{deleted}");
                break;
            case 4:
                // Two files change places.
                string one = Any(), other = Any();
                if (one != other) lines.AddRange([$"R\t{one}\t{other}", $"R\t{other}\t{one}"]);
                break;
            case 5:
                // All of a directory, perhaps into the other partition.
                string from = s_directories[random.Next(s_directories.Length)] + "/";
                string to = $"moved{number}/";
                foreach (string file in before.Where(f => f.StartsWith(from, StringComparison.Ordinal)))
                {
                    files.Remove(file);
                    files.Add(to + file[from.Length..]);
                    lines.Add($"R\t{file}\t{to}{file[from.Length..]}");
                }

                break;
            case 6:
                string source = Any(), copy = New(0);
                files.Add(copy);
                lines.Add($"C\t{source}\t{copy}");
                break;
            default:
                // A file becomes a directory.
                string gone = Any();
                files.Remove(gone);
                files.Add($"{gone}/inside");
                lines.Add($"R\t{gone}\t{gone}/inside");
                break;
        }

        return lines;
    }
}
