using System.Buffers;
using System.Buffers.Binary;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// What a start needs besides the log when it does not read all of it (R3): where in the log to go on, which checkpoint
/// of the address map belongs to it, what the log's segments hold, and the core's state. A shortcut: it counts only if
/// it is whole, and if the log agrees with it. The newest two are kept.
/// </summary>
internal sealed class MapCheckpoint
{
    private const uint Magic = 0x31434643; // "CFC1"
    private const byte Version = 1;
    private const int Kept = 2;

    public required uint LogId { get; init; }

    public required long Number { get; init; }

    /// <summary>Of FASTER's checkpoint of the map.</summary>
    public required Guid Map { get; init; }

    /// <summary>Where the replay goes on: behind this record.</summary>
    public required LogTail Tail { get; init; }

    /// <summary>The check of that record: another log has another.</summary>
    public required uint LastCheck { get; init; }

    /// <summary>The map may reflect records up to here, so a log that ends before is not the one that it was made
    /// from.</summary>
    public required long Needs { get; init; }

    public required long FirstKept { get; init; }

    public required LogRecord Gaps { get; init; }

    public required IReadOnlyList<SegmentContents> Segments { get; init; }

    public required ReadOnlyMemory<byte> Core { get; init; }

    /// <summary>Those that are whole, newest first.</summary>
    public static List<MapCheckpoint> Load(IAddressMaps maps, uint logId)
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

    /// <summary>Then all but the newest two go, with their maps.</summary>
    public async ValueTask PublishAsync(IAddressMaps maps)
    {
        await maps.PublishAsync(Number, ToBytes());
        var kept = Load(maps, LogId).Take(Kept).ToList();
        maps.Delete([.. maps.List().Where(n => kept.TrueForAll(k => k.Number != n))]);
        maps.Purge([.. kept.Select(k => k.Map)]);
    }

    /// <summary>
    /// A checkpoint that was passed over, because it could not be read just then, must not be found by the next start:
    /// the map goes on from an older one, over the part that the newer one needs.
    /// </summary>
    public void ForgetNewer(IAddressMaps maps) => maps.Delete([.. maps.List().Where(n => n > Number)]);

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
        var logId = r.UInt32();
        var number = r.Int64();
        var map = r.Guid();
        var tail = new LogTail(r.Int64(), r.Int64(), r.UInt32(), r.Int64(), false);
        var lastCheck = r.UInt32();
        var needs = r.Int64();
        var firstKept = r.Int64();
        var gaps = new LogRecord(RecordKind.Freed, LogPosition.Zero, r.Bytes());
        // Refused here, before anything of the checkpoint is taken over.
        new LogGaps().Read(gaps.Body.Span);
        var segments = new SegmentContents[r.Count(SegmentContents.Size)];
        for (var i = 0; i < segments.Length; i++) segments[i] = SegmentContents.Read(ref r);
        var core = r.Bytes();
        r.End();
        return new MapCheckpoint
        {
            LogId = logId,
            Number = number,
            Map = map,
            Tail = tail,
            LastCheck = lastCheck,
            Needs = needs,
            FirstKept = firstKept,
            Gaps = gaps,
            Segments = segments,
            Core = core,
        };
    }
}
