using System.Buffers;

namespace Corfu.Register;

/// <summary>An acceptor's log is damaged where it was durable, or is not this acceptor's. It must not start: an
/// acceptor that forgets a promise can undo a decision. Replace it by a freshly formatted one with another
/// identity.</summary>
public sealed class AcceptorLogDamagedException(string message, Exception? inner = null)
    : CorfuException(message, inner);

/// <summary>A write of records found no room: the log is as before, and the write may be tried again.</summary>
internal sealed class AcceptorLogFullException(IOException inner)
    : IOException("The disk has no room for the acceptor's log.", inner);

/// <summary>The durable log of one acceptor. An area begins with a group that holds generation, cluster, identity and a
/// whole snapshot; every further group is one flush of records. Compaction writes the next generation to the other
/// area, flushes it, and then empties this one before anything follows. A damaged area beside a sound one therefore
/// never held an acknowledged record. A damaged area beside an empty one is damage (R6). Behind its groups an area may
/// hold zeros: room that is there already when the disk is full.</summary>
internal sealed class AcceptorLog
{
    private readonly IAcceptorDevice _device;
    private int _area;
    private long _generation;
    private long _end;
    private long _nextNumber;
    private long _compactedEnd;

    // Bytes that each area keeps allocated, as far as there was room, and has.
    private readonly long _reserve;
    private readonly long[] _lengths = new long[IAcceptorDevice.Areas];

    private AcceptorLog(IAcceptorDevice device, AreaStart start, int area, long reserve)
    {
        _device = device;
        _area = area;
        _generation = start.Generation;
        _reserve = reserve;
        Cluster = start.Cluster;
        Id = start.Id;
    }

    public ClusterId Cluster { get; }

    /// <summary>Given when the device was formatted, never changed.</summary>
    public NodeId Id { get; }

    /// <summary>Bytes written since the last compaction.</summary>
    public long Grown => _end - _compactedEnd;

    /// <summary>Makes an empty device an acceptor's; durable on return.</summary>
    /// <exception cref="AcceptorLogDamagedException">The device is not empty.</exception>
    public static async ValueTask FormatAsync(IAcceptorDevice device, ClusterId cluster, NodeId id)
    {
        for (var area = 0; area < IAcceptorDevice.Areas; area++)
        {
            if (!IsZero(await device.ReadAsync(area)))
                throw new AcceptorLogDamagedException("The acceptor's log is not empty: it is never formatted twice.");
        }

        await new AcceptorLog(device, new AreaStart(0, cluster, id), 1, 0).CompactAsync([]);
    }

    /// <summary>Empties what a crash during <see cref="FormatAsync"/> has left on a device that was never served from,
    /// which only its owner can know. A device with a readable beginning is formatted and stays as it is.</summary>
    /// <returns>Whether the device is empty now.</returns>
    public static async ValueTask<bool> ClearUnfinishedAsync(IAcceptorDevice device)
    {
        for (var area = 0; area < IAcceptorDevice.Areas; area++)
        {
            if (AreaStart.TryRead(await device.ReadAsync(area)) is not null) return false;
        }

        for (var area = 0; area < IAcceptorDevice.Areas; area++)
        {
            if ((await device.ReadAsync(area)).Length == 0) continue;
            device.Truncate(area, 0);
            await device.FlushAsync(area);
        }

        return true;
    }

    /// <summary>Reads the log back into the core.</summary>
    /// <exception cref="AcceptorLogDamagedException">Not formatted, or damaged where it was durable.</exception>
    public static async ValueTask<AcceptorLog> OpenAsync(
        IAcceptorDevice device, AcceptorCore core, IRegisterOwner owner, long reserve = 0)
    {
        try
        {
            var log = await ReadAsync(device, core, owner, reserve);
            for (var area = 0; area < IAcceptorDevice.Areas; area++) await log.ReserveAsync(area);
            return log;
        }
        catch (MalformedDataException e)
        {
            // The record's check holds, but this version does not write such a record.
            throw new AcceptorLogDamagedException($"The acceptor's log cannot be read: {e.Message}", e);
        }
    }

    private static async ValueTask<AcceptorLog> ReadAsync(
        IAcceptorDevice device, AcceptorCore core, IRegisterOwner owner, long reserve)
    {
        var areas = new byte[IAcceptorDevice.Areas][];
        var starts = new AreaStart?[IAcceptorDevice.Areas];
        for (var area = 0; area < areas.Length; area++)
        {
            areas[area] = await device.ReadAsync(area);
            starts[area] = AreaStart.TryRead(areas[area]);
        }

        var chosen = (starts[0]?.Generation ?? -1) >= (starts[1]?.Generation ?? -1) ? 0 : 1;
        if (starts[chosen] is not { } start)
            throw new AcceptorLogDamagedException(areas.All(a => IsZero(a))
                ? "There is no acceptor's log here."
                : "The acceptor's log is damaged at its beginning.");

        var other = 1 - chosen;
        if (starts[other] is { } leftover && (leftover.Id != start.Id || leftover.Cluster != start.Cluster))
            throw new AcceptorLogDamagedException(
                "The two halves of the acceptor's log belong to different acceptors.");
        var log = new AcceptorLog(device, start, chosen, reserve);
        for (var area = 0; area < areas.Length; area++) log._lengths[area] = areas[area].Length;
        log.ReplayGroups(areas[chosen], core, owner);

        // A crash may leave a torn last group here, and an unfinished or superseded generation there. Bytes that a
        // killed process wrote may be in the page cache alone. It becomes durable before any answer rests on it, and
        // before the generation goes that it replaces.
        if (IsZero(areas[chosen].AsSpan((int)log._end))) await device.FlushAsync(chosen);
        else await log.EraseAsync(chosen, log._end);
        // An empty area too: that may not be durable yet, and the old generation must not come back when the newer one
        // is damaged.
        if (areas[other].Length > 0 && IsZero(areas[other])) await device.FlushAsync(other);
        else await log.EraseAsync(other, 0);
        return log;
    }

    /// <summary>Durable on return. A failed flush is final: what is on the disk is unknown from then on.</summary>
    public async ValueTask AppendAsync(IReadOnlyList<AcceptorRecord> records)
    {
        var group = LogGroup.Encode(_generation, _end, _nextNumber, Body(null, records));
        Write(_area, _end, group);
        await _device.FlushAsync(_area);
        _end += group.Length;
        _nextNumber++;
    }

    /// <summary>Rewrites the log as this snapshot, which says all that was appended; durable on return.</summary>
    public async ValueTask CompactAsync(ImmutableArray<AcceptorRecord> snapshot)
    {
        var next = 1 - _area;
        var start = new AreaStart(_generation + 1, Cluster, Id);
        var group = LogGroup.Encode(AreaStart.Binding, 0, 0, Body(start, snapshot));
        Write(next, 0, group);
        await _device.FlushAsync(next);
        await EraseAsync(_area, 0);
        _area = next;
        _generation++;
        _end = group.Length;
        _compactedEnd = group.Length;
        _nextNumber = 1;
    }

    private void Write(int area, long offset, ReadOnlySpan<byte> bytes)
    {
        try
        {
            _device.Write(area, offset, bytes);
        }
        catch (IOException e) when (DurableFile.IsFull(e))
        {
            throw new AcceptorLogFullException(e);
        }

        _lengths[area] = Math.Max(_lengths[area], offset + bytes.Length);
    }

    // Bytes within the reserve are overwritten, the rest is cut off. A file system that copies on write may find no
    // room for that. The next generation is durable by then and wins after a restart: whatever is written to the old
    // one behind such an error would be forgotten, so that the error is final.
    private async ValueTask EraseAsync(int area, long from)
    {
        var kept = Math.Max(from, Math.Min(_lengths[area], _reserve));
        _device.Truncate(area, kept);
        _lengths[area] = kept;
        if (kept > from) _device.Write(area, from, new byte[kept - from]);
        await _device.FlushAsync(area);
    }

    private async ValueTask ReserveAsync(int area)
    {
        if (_lengths[area] >= _reserve) return;
        try
        {
            Write(area, _lengths[area], new byte[_reserve - _lengths[area]]);
        }
        catch (AcceptorLogFullException)
        {
            return;
        }

        await _device.FlushAsync(area);
    }

    private static bool IsZero(ReadOnlySpan<byte> bytes) => !bytes.ContainsAnyExcept((byte)0);

    private void ReplayGroups(byte[] area, AcceptorCore core, IRegisterOwner owner)
    {
        var expected = 0L;
        var offset = 0L;
        while (LogGroup.TryRead(area, expected == 0 ? AreaStart.Binding : _generation, offset, out var number,
            out var body))
        {
            if (number != expected)
                throw new AcceptorLogDamagedException($"Group {expected} of the acceptor's log is missing.");
            ReplayBody(body, expected == 0, core, owner);
            offset += LogGroup.HeaderSize + body.Length;
            if (expected++ == 0) _compactedEnd = offset;
        }

        _end = offset;
        _nextNumber = expected;

        // Only one group is ever on its way: a sound one behind a bad one means that the bad one was durable once.
        for (var later = offset + 1; later <= area.Length - LogGroup.HeaderSize; later++)
        {
            if (LogGroup.TryRead(area, _generation, later, out _, out _))
                throw new AcceptorLogDamagedException(
                    $"The acceptor's log is damaged at byte {offset}, before its end.");
        }
    }

    private static void ReplayBody(ReadOnlyMemory<byte> body, bool first, AcceptorCore core, IRegisterOwner owner)
    {
        var r = new WireReader(body);
        if (first) AreaStart.Read(ref r);
        for (var count = r.Count(1); count > 0; count--) core.Replay(AcceptorRecord.Read(ref r, owner));
        r.End();
    }

    private static byte[] Body(AreaStart? start, IReadOnlyList<AcceptorRecord> records)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var w = new WireWriter(buffer);
        start?.Write(ref w);
        w.Int32(records.Count);
        foreach (var record in records) record.Write(ref w);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }
}
