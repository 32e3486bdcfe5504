using System.Globalization;
using System.Text.Json;

namespace Corfu.Hosting;

/// <summary>Reads and verifies the audit files of a node.</summary>
public static class AuditFiles
{
    public const string CurrentName = "audit.jsonl";

    internal const string Begin = "0000000000000000000000000000000000000000000000000000000000000000";

    private const string Prefix = "audit-";
    private const string Suffix = ".jsonl";

    /// <summary>The audit files in a node's folder, oldest first.</summary>
    public static ImmutableArray<string> In(string folder)
    {
        if (!Directory.Exists(folder)) return [];
        var full = Directory.EnumerateFiles(folder, Prefix + "*" + Suffix).Where(file => NumberOf(file) is not null)
            .OrderBy(NumberOf);
        var current = Path.Combine(folder, CurrentName);
        return [.. File.Exists(current) ? full.Append(current) : full];
    }

    /// <summary>The lines of a file that are entries. A line that is none is passed over: <see cref="Verify"/> names
    /// it.</summary>
    public static IEnumerable<AuditEntry> Read(string file)
    {
        foreach (var line in LinesOf(file))
        {
            AuditEntry? entry = null;
            try
            {
                entry = AuditEntry.Decode(line);
            }
            catch (JsonException)
            {
                // The reader shows what is there.
            }

            if (entry is not null) yield return entry;
        }
    }

    /// <summary>Checks that no line of these files was changed, removed or added, in between and within.</summary>
    /// <param name="files">Oldest first. The first line of the first one is believed, for older files are
    /// deleted.</param>
    public static AuditVerdict Verify(IEnumerable<string> files)
    {
        string? last = null;
        var lines = 0L;
        foreach (var file in files)
        {
            var number = 0;
            foreach (var line in LinesOf(file))
            {
                number++;
                lines++;
                var where = $"{file}, line {number}";
                try
                {
                    var entry = AuditEntry.Decode(line);
                    if (last is not null && entry.Prev != last)
                        return new AuditVerdict(lines, last,
                            $"{where}: a line before it was changed, or lines are missing or added");
                }
                catch (JsonException)
                {
                    return new AuditVerdict(lines, last ?? Begin, $"{where}: it is no entry");
                }

                last = AuditEntry.HashOf(line);
            }
        }

        return new AuditVerdict(lines, last ?? Begin, null);
    }

    internal static string NameOf(long number) =>
        string.Create(CultureInfo.InvariantCulture, $"{Prefix}{number:D9}{Suffix}");

    internal static long? NumberOf(string file)
    {
        var name = Path.GetFileName(file);
        return name.StartsWith(Prefix, StringComparison.Ordinal) && name.EndsWith(Suffix, StringComparison.Ordinal)
            && long.TryParse(name.AsSpan()[Prefix.Length..^Suffix.Length], NumberStyles.None,
                CultureInfo.InvariantCulture, out var number)
            ? number
            : null;
    }

    private static IEnumerable<byte[]> LinesOf(string file)
    {
        // Lines are JSON in UTF-8: no byte of a character is a line feed.
        var bytes = ReadWritten(file);
        for (var from = 0; from < bytes.Length;)
        {
            var end = Array.IndexOf(bytes, (byte)'\n', from);
            if (end < 0) end = bytes.Length;
            yield return bytes[from..end];
            from = end + 1;
        }
    }

    // A node that runs has the file open for writing, which Windows asks its readers to permit.
    private static byte[] ReadWritten(string file)
    {
        using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}

/// <summary>The outcome of a check of audit files.</summary>
/// <param name="LastHash">The hash of the last sound line: kept elsewhere, it shows later whether lines were cut from
/// the end.</param>
/// <param name="Fault">The first line that is not sound, or null.</param>
public sealed record AuditVerdict(long Lines, string LastHash, string? Fault);
