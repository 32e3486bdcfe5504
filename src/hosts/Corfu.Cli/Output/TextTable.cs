namespace Corfu.Cli;

/// <summary>Columns padded to their widest cell, two spaces apart: readable, and easy to cut with the usual tools. A
/// row is one line, whatever its cells hold.</summary>
internal static class TextTable
{
    public static async Task WriteAsync(TextWriter output, string[] header, IEnumerable<string[]> body)
    {
        string[][] rows = [header, .. body.Select(row => Array.ConvertAll(row, Printable.Of))];
        int[] widths = [.. header.Select((_, column) => rows.Max(row => row[column].Length))];
        foreach (var row in rows)
            await output.WriteLineAsync(
                string.Join("  ", row.Select((cell, column) => cell.PadRight(widths[column]))).TrimEnd());
    }
}
