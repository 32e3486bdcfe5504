using System.Globalization;
using System.Text;

namespace Corfu.Cli;

/// <summary>A position of the log for people: a heading, then the contents of the payload.</summary>
internal static class EntryText
{
    private const int PreviewBytes = 64;

    public static IEnumerable<string> Lines(LogReadResult page)
    {
        var kind = page.State.ToString().ToLowerInvariant();
        if (page.Entry is not { } entry)
        {
            yield return $"{page.Position}  {kind}";
            yield break;
        }

        var time = entry.WriterTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        var streams = entry.Streams.IsEmpty ? "no stream" : "streams " + string.Join(' ', entry.Streams.Select(Stream));
        yield return $"{entry.Position}  {kind}  {entry.Payload.Length} bytes  {time}  {entry.Origin}  {streams}";
        if (!page.IsData) yield break;
        var records = TangoRecords.Read(entry.Payload);
        foreach (var record in records) yield return "    " + TangoRecords.ToLine(record);
        if (records.Count == 0 && entry.Payload.Length > 0) yield return "    " + Preview(entry.Payload.Span);
    }

    private static string Stream(StreamHeader header) =>
        header.Backpointers.IsEmpty
            ? header.Stream.ToString()
            : $"{header.Stream}<-{string.Join(',', header.Backpointers.Select(p => p.Offset))}";

    /// <summary>As text if it is some, else in hexadecimal; cut after <see cref="PreviewBytes"/> bytes.</summary>
    private static string Preview(ReadOnlySpan<byte> payload)
    {
        var shown = payload[..Math.Min(PreviewBytes, payload.Length)];
        var more = payload.Length > shown.Length ? "..." : "";
        foreach (var b in shown)
        {
            if (b is < 0x20 or > 0x7E) return Convert.ToHexString(shown) + more;
        }

        return '"' + Encoding.ASCII.GetString(shown) + '"' + more;
    }
}
