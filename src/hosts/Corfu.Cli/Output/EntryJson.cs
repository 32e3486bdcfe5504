using System.Text.Json;

namespace Corfu.Cli;

/// <summary>A position of the log as JSON. <see cref="Kind"/> is data, junk, trimmed, unwritten or corrupt.</summary>
/// <param name="Epoch">In which the entry was written; absent where there is none.</param>
/// <param name="Payload">Base64; absent for everything but data.</param>
/// <param name="Records">The payload's Tango records, decoded; absent if it holds none.</param>
internal sealed record EntryJson(long Position, long? Epoch, string Kind, IReadOnlyList<StreamJson> Streams,
    string? Writer, long? Sequence, DateTimeOffset? Time, string? Payload, IReadOnlyList<JsonElement>? Records)
{
    public static EntryJson Of(LogEntry entry) => Of(new LogReadResult(entry.Position, PageState.Data, entry));

    public static EntryJson Of(LogReadResult page)
    {
        var kind = page.State.ToString().ToLowerInvariant();
        if (page.Entry is not { } entry)
            return new EntryJson(page.Position.Offset, null, kind, [], null, null, null, null, null);
        var records = page.IsData ? TangoRecords.Read(entry.Payload) : [];
        return new EntryJson(page.Position.Offset, entry.Position.Epoch.Value, kind,
            [.. entry.Streams.Select(s => new StreamJson(s.Stream.Value, [.. s.Backpointers.Select(p => p.Offset)]))],
            entry.Origin.Writer.Value.ToString(), entry.Origin.Sequence, entry.WriterTime,
            page.IsData ? Convert.ToBase64String(entry.Payload.Span) : null, records.Count > 0 ? records : null);
    }
}

/// <param name="Back">Earlier positions of the stream, newest first.</param>
internal sealed record StreamJson(ulong Id, IReadOnlyList<long> Back);
