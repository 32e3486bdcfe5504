namespace Corfu.Cli;

/// <summary>Columns padded to their widest cell, two spaces apart: readable, and easy to cut with the usual
/// tools.</summary>
internal static class TextTable
{
    public static IEnumerable<string> Format(IReadOnlyList<string[]> rows)
    {
        var widths = Enumerable.Range(0, rows[0].Length).Select(column => rows.Max(row => row[column].Length))
            .ToArray();
        return rows.Select(row => string.Join("  ", row.Select((cell, column) => cell.PadRight(widths[column])))
            .TrimEnd());
    }
}
