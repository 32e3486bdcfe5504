using Corfu;
using MessagePack;
using Tango.Formatting;

namespace Tango.Tests;

/// <summary>
/// The log as older code sees it: some updates have a record kind that it does not know. Newer code reads the same log
/// without this cursor.
/// </summary>
/// <param name="isNewer">Whether the update is one that the older code cannot read, by its bytes.</param>
internal sealed class OldCodeCursor(IStreamCursor inner, Func<ReadOnlyMemory<byte>, bool> isNewer)
    : CursorWrapper(inner)
{
    private const byte Update = 1;
    private const byte UnknownKind = 99;

    public override async ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default)
    {
        var entry = await base.ReadNextAsync(cancellationToken);
        return entry is null ? null : entry with { Payload = AsOldCodeReads(entry.Payload) };
    }

    private byte[] AsOldCodeReads(ReadOnlyMemory<byte> payload)
    {
        var seen = payload.ToArray();
        var reader = new MessagePackReader(payload);
        reader.ReadArrayHeader(4);
        for (var i = 0; i < 3; i++) reader.SkipValue();
        for (var left = reader.ReadArrayHeader(); left > 0; left--)
        {
            var start = (int)reader.Consumed;
            reader.SkipValue();
            var record = payload[start..(int)reader.Consumed];
            // The kind is the byte behind the array's header.
            if (record.Span[1] == Update && isNewer(record)) seen[start + 1] = UnknownKind;
        }

        return seen;
    }
}
