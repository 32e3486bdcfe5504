using System.Buffers;

namespace Corfu.Unit;

/// <summary>A start reads this besides the end of the log (R3): the log's state when the checkpoint was begun, the
/// checkpoint of the address map that belongs to it, and the core's state. A shortcut: used only if it is whole and the
/// log agrees with it. The newest two are kept.</summary>
internal sealed record MapCheckpoint(MapHeader Header, LogRecord Gaps, IReadOnlyList<SegmentContents> Segments)
{
    private const uint Magic = 0x31434643; // "CFC1"
    private const int Kept = 2;

    public ReadOnlyMemory<byte> Core { get; set; }

    /// <summary>The whole ones, newest first.</summary>
    public static List<MapCheckpoint> Load(IAddressMaps<long, PageEntry> maps, uint logId)
    {
        var found = new List<MapCheckpoint>();
        foreach (var number in maps.List())
        {
            try
            {
                if (Parse(maps.Read(number)) is { } checkpoint && checkpoint.Header.LogId == logId)
                    found.Add(checkpoint);
            }
            catch (Exception error) when (error is MalformedDataException or IOException)
            {
                // Not whole: the other one, or the whole log.
            }
        }

        found.Sort((a, b) => b.Header.Number.CompareTo(a.Header.Number));
        return found;
    }

    /// <summary>Makes the checkpoint durable, then deletes all but the newest two, with their maps.</summary>
    public async ValueTask PublishAsync(IAddressMaps<long, PageEntry> maps)
    {
        await maps.PublishAsync(Header.Number, ToBytes());
        var kept = Load(maps, Header.LogId).Take(Kept).ToList();
        maps.Delete([.. maps.List().Where(n => kept.TrueForAll(k => k.Header.Number != n))]);
        maps.Purge([.. kept.Select(k => k.Header.Map)]);
    }

    /// <summary>Deletes newer checkpoints that could not be read just now: the map goes on from this one, over the part
    /// that they need, so the next start must not find them.</summary>
    public void ForgetNewer(IAddressMaps<long, PageEntry> maps) =>
        maps.Delete([.. maps.List().Where(n => n > Header.Number)]);

    private byte[] ToBytes()
    {
        var buffer = new ArrayBufferWriter<byte>(Core.Length + 4096);
        var w = new WireWriter(buffer);
        w.Bytes(Gaps.Body.Span);
        w.Int32(Segments.Count);
        foreach (var segment in Segments) segment.Write(ref w);
        w.Bytes(Core.Span);
        w.Flush();
        return Header.ToDocument(Magic, buffer.WrittenSpan);
    }

    private static MapCheckpoint? Parse(byte[] bytes)
    {
        if (MapHeader.Read(bytes, Magic, out var contents) is not { } header) return null;
        var r = new WireReader(contents);
        var gaps = new LogRecord(RecordKind.Freed, LogPosition.Zero, r.Bytes());
        // Checked here, before the store's state changes.
        new LogGaps().Read(gaps.Body);
        var segments = new SegmentContents[r.Count(SegmentContents.Size)];
        for (var i = 0; i < segments.Length; i++) segments[i] = SegmentContents.Read(ref r);
        var core = r.Bytes();
        r.End();
        return new MapCheckpoint(header, gaps, segments) { Core = core };
    }
}
