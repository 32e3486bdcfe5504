using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.Unit;

/// <summary>A start reads this besides the end of the log (R3): the log's state when the checkpoint was begun, the
/// checkpoint of the address map that belongs to it, and the core's state. A shortcut: used only if it is whole and the
/// log agrees with it. The newest two are kept.</summary>
/// <param name="Map">Identity of the map's checkpoint.</param>
/// <param name="Tail">The replay goes on behind this record.</param>
/// <param name="LastCheck">The check of that record: another log has another.</param>
internal sealed record MapCheckpoint(uint LogId, Guid Map, LogTail Tail, uint LastCheck, long FirstKept, LogRecord Gaps,
    IReadOnlyList<SegmentContents> Segments)
{
    private const uint Magic = 0x31434643; // "CFC1"
    private const byte Version = 1;
    private const int Kept = 2;

    public long Number { get; set; }

    /// <summary>The map may reflect records up to here: a log that ends before is not the one that it was made
    /// from.</summary>
    public long Needs { get; set; }

    public ReadOnlyMemory<byte> Core { get; set; }

    /// <summary>The whole ones, newest first.</summary>
    public static List<MapCheckpoint> Load(IAddressMaps<long, PageEntry> maps, uint logId)
    {
        var found = new List<MapCheckpoint>();
        foreach (var number in maps.List())
        {
            try
            {
                if (Parse(maps.Read(number)) is { } checkpoint && checkpoint.LogId == logId) found.Add(checkpoint);
            }
            catch (Exception error) when (error is MalformedDataException or IOException)
            {
                // Not whole: the other one, or the whole log.
            }
        }

        found.Sort((a, b) => b.Number.CompareTo(a.Number));
        return found;
    }

    /// <summary>Then deletes all but the newest two, with their maps.</summary>
    public async ValueTask PublishAsync(IAddressMaps<long, PageEntry> maps)
    {
        await maps.PublishAsync(Number, ToBytes());
        var kept = Load(maps, LogId).Take(Kept).ToList();
        maps.Delete([.. maps.List().Where(n => kept.TrueForAll(k => k.Number != n))]);
        maps.Purge([.. kept.Select(k => k.Map)]);
    }

    /// <summary>Deletes newer checkpoints that could not be read just now: the map goes on from this one, over the part
    /// that they need, so the next start must not find them.</summary>
    public void ForgetNewer(IAddressMaps<long, PageEntry> maps) =>
        maps.Delete([.. maps.List().Where(n => n > Number)]);

    private byte[] ToBytes()
    {
        var buffer = new ArrayBufferWriter<byte>(Core.Length + 4096);
        var w = new WireWriter(buffer);
        w.UInt32(Magic);
        w.Byte(Version);
        w.UInt32(LogId);
        w.Int64(Number);
        w.Guid(Map);
        w.Int64(Tail.End);
        w.Int64(Tail.LastRecord);
        w.UInt32(Tail.Incarnation);
        w.Int64(Tail.Records);
        w.UInt32(LastCheck);
        w.Int64(Needs);
        w.Int64(FirstKept);
        w.Bytes(Gaps.Body.Span);
        w.Int32(Segments.Count);
        foreach (var segment in Segments) segment.Write(ref w);
        w.Bytes(Core.Span);
        w.Flush();
        var bytes = new byte[buffer.WrittenCount + 4];
        buffer.WrittenSpan.CopyTo(bytes);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(buffer.WrittenCount), Crc32C.Compute(buffer.WrittenSpan));
        return bytes;
    }

    private static MapCheckpoint? Parse(byte[] bytes)
    {
        if (bytes.Length < 16) return null;
        var body = bytes.AsMemory(0, bytes.Length - 4);
        if (Crc32C.Compute(body.Span) != BinaryPrimitives.ReadUInt32LittleEndian(bytes.AsSpan(bytes.Length - 4)))
            return null;
        var r = new WireReader(body);
        if (r.UInt32() != Magic || r.Byte() != Version) return null;
        var (logId, number, map) = (r.UInt32(), r.Int64(), r.Guid());
        var tail = new LogTail(r.Int64(), r.Int64(), r.UInt32(), r.Int64());
        var (lastCheck, needs, firstKept) = (r.UInt32(), r.Int64(), r.Int64());
        var gaps = new LogRecord(RecordKind.Freed, LogPosition.Zero, r.Bytes());
        // Checked here, before the store's state changes.
        new LogGaps().Read(gaps.Body);
        var segments = new SegmentContents[r.Count(SegmentContents.Size)];
        for (var i = 0; i < segments.Length; i++) segments[i] = SegmentContents.Read(ref r);
        var core = r.Bytes();
        r.End();
        return new MapCheckpoint(logId, map, tail, lastCheck, firstKept, gaps, segments)
        {
            Number = number,
            Needs = needs,
            Core = core,
        };
    }
}
