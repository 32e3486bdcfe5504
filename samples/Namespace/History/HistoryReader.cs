using System.Globalization;
using System.IO.Compression;
using Tango.Collections;

namespace NamespaceSample.History;

/// <summary>
/// Reads histories of file trees, plain or gzip. <c>T id unix-time</c> starts a change; then one operation a line, with
/// tabs: <c>A path</c>, <c>M path</c>, <c>T path</c>, <c>D path</c>, <c>R from to</c>, <c>C from to</c>.
/// </summary>
public static class HistoryReader
{
    private const string ChangePrefix = "T ";
    private const byte GzipFirst = 0x1F;
    private const byte GzipSecond = 0x8B;

    /// <exception cref="HistoryFormatException">The file is not there, or not such a history.</exception>
    public static IReadOnlyList<HistoryChange> ReadFile(string file)
    {
        var changes = new List<HistoryChange>();
        List<HistoryOperation> operations = [];
        foreach ((int number, string line) in ReadLines(file))
        {
            if (line.StartsWith(ChangePrefix, StringComparison.Ordinal))
            {
                operations = [];
                changes.Add(ReadChange(file, number, line, changes.Count + 1, operations));
            }
            else if (changes.Count == 0)
            {
                throw new HistoryFormatException(file, number, "an operation before the first change (\"T id time\")");
            }
            else
            {
                operations.Add(ReadOperation(file, number, line));
            }
        }

        return changes.Count > 0 ? changes : throw new HistoryFormatException(file, "it holds no change");
    }

    /// <summary>Reads a path a line, as a history names them; in ordinal order, each with a slash before it.</summary>
    /// <exception cref="HistoryFormatException">The file is not there, or not such a list.</exception>
    public static IReadOnlyList<string> ReadPaths(string file)
    {
        var paths = new SortedSet<string>(StringComparer.Ordinal);
        foreach ((int number, string line) in ReadLines(file))
        {
            if (!paths.Add(ReadPath(file, number, line)))
                throw new HistoryFormatException(file, number, $"'{line}' is there twice");
        }

        return [.. paths];
    }

    private static IEnumerable<(int Number, string Line)> ReadLines(string file)
    {
        using Stream stream = Open(file);
        using var reader = new StreamReader(stream);
        for (int number = 1; ; number++)
        {
            string? line;
            try
            {
                line = reader.ReadLine();
            }
            catch (Exception e) when (e is IOException or InvalidDataException)
            {
                throw new HistoryFormatException(file, $"it cannot be read: {e.Message}", e);
            }

            if (line is null) yield break;
            if (line.Length > 0) yield return (number, line);
        }
    }

    private static Stream Open(string file)
    {
        try
        {
            FileStream stream = File.OpenRead(file);
            bool isGzip = stream.ReadByte() == GzipFirst && stream.ReadByte() == GzipSecond;
            stream.Position = 0;
            return isGzip ? new GZipStream(stream, CompressionMode.Decompress) : stream;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new HistoryFormatException(file, $"it cannot be opened: {e.Message}", e);
        }
    }

    private static HistoryChange ReadChange(
        string file, int line, string text, int number, List<HistoryOperation> operations)
    {
        string[] parts = text.Split(' ');
        if (parts.Length != 3 || parts[1].Length == 0
            || !long.TryParse(parts[2], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long time))
            throw new HistoryFormatException(file, line, "a change is \"T id unix-time\"");
        return new HistoryChange(number, line, parts[1], time, operations);
    }

    private static HistoryOperation ReadOperation(string file, int line, string text)
    {
        string[] parts = text.Split('\t');
        return (parts[0], parts.Length) switch
        {
            ("A", 2) => new HistoryOperation.Add(Path(1)),
            ("M" or "T", 2) => new HistoryOperation.Modify(Path(1)),
            ("D", 2) => new HistoryOperation.Delete(Path(1)),
            ("R", 3) => new HistoryOperation.Rename(Path(1), Path(2)),
            ("C", 3) => new HistoryOperation.Copy(Path(1), Path(2)),
            ("A" or "M" or "T" or "D", _) =>
                throw new HistoryFormatException(file, line, $"operation {parts[0]} has one path, after a tab"),
            ("R" or "C", _) =>
                throw new HistoryFormatException(file, line, $"operation {parts[0]} has two paths, each after a tab"),
            _ => throw new HistoryFormatException(file, line, $"'{parts[0]}' is none of A, M, T, D, R and C"),
        };

        string Path(int index) => ReadPath(file, line, parts[index]);
    }

    private static string ReadPath(string file, int line, string text)
    {
        string path = $"/{text}";
        return TreePath.IsValid(path) && path != TreePath.Root
            ? path
            : throw new HistoryFormatException(file, line, $"'{text}' is not the path of a file");
    }
}
