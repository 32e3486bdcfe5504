using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// The durable log of one acceptor. An area begins with a group that holds generation, cluster, identity and a whole
/// snapshot; every further group is one flush of records. Compaction writes the next generation to the other area,
/// flushes it, and then empties this one before anything follows: so a damaged area beside a sound one never held
/// anything acknowledged, and a damaged area beside an empty one is damage (R6).
/// </summary>
public sealed class AcceptorLog
{
    private const ushort FormatVersion = 1;

    private readonly IAcceptorDevice _device;
    private int _area;
    private long _generation;
    private long _end;
    private long _nextNumber;
    private long _compactedEnd;

    private AcceptorLog(IAcceptorDevice device, ClusterId cluster, NodeId id)
    {
        _device = device;
        Cluster = cluster;
        Id = id;
    }

    public ClusterId Cluster { get; }

    /// <summary>Given when the device was formatted, never changed (R2).</summary>
    public NodeId Id { get; }

    /// <summary>Bytes written since the last compaction.</summary>
    public long Grown => _end - _compactedEnd;

    /// <summary>Makes an empty device an acceptor's; durable on return.</summary>
    /// <exception cref="AcceptorLogDamagedException">The device is not empty.</exception>
    public static async ValueTask FormatAsync(IAcceptorDevice device, ClusterId cluster, NodeId id)
    {
        if (!await IsEmptyAsync(device))
            throw new AcceptorLogDamagedException("The acceptor's log is not empty: it is never formatted twice.");
        var log = new AcceptorLog(device, cluster, id) { _area = 1 };
        await log.CompactAsync([]);
    }

    public static async ValueTask<bool> IsEmptyAsync(IAcceptorDevice device)
    {
        for (var area = 0; area < IAcceptorDevice.Areas; area++)
        {
            if ((await device.ReadAsync(area)).Length > 0) return false;
        }

        return true;
    }

    /// <summary>
    /// For a device that has never been served from, which only its owner can know: what a crash in the middle of
    /// <see cref="FormatAsync"/> has left is emptied. A device with a beginning that can be read is formatted, and
    /// stays as it is.
    /// </summary>
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
    public static async ValueTask<AcceptorLog> OpenAsync(IAcceptorDevice device, AcceptorCore core)
    {
        try
        {
            return await ReadAsync(device, core);
        }
        catch (MalformedDataException e)
        {
            // Whole by its check, and yet not what this version writes.
            throw new AcceptorLogDamagedException($"The acceptor's log cannot be read: {e.Message}", e);
        }
    }

    private static async ValueTask<AcceptorLog> ReadAsync(IAcceptorDevice device, AcceptorCore core)
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
        {
            throw new AcceptorLogDamagedException(
                areas.All(a => a.Length == 0)
                    ? "There is no acceptor's log here."
                    : "The acceptor's log is damaged at its beginning.");
        }

        var other = 1 - chosen;
        if (starts[other] is { } leftover && (leftover.Id != start.Id || leftover.Cluster != start.Cluster))
            throw new AcceptorLogDamagedException(
                "The two halves of the acceptor's log belong to different acceptors.");
        var log = new AcceptorLog(device, start.Cluster, start.Id) { _area = chosen, _generation = start.Generation };
        log.ReplayGroups(areas[chosen], core);

        // A crash left them: a torn last group here, an unfinished or superseded generation there. What a killed
        // process wrote may be in the page cache alone: it is durable before anything is answered from it, and before
        // the generation goes that it replaces.
        if (log._end < areas[chosen].Length) device.Truncate(chosen, log._end);
        await device.FlushAsync(chosen);
        // Also where it is empty already: that may not be durable yet, and it must not come back when the newer one is
        // damaged.
        await log.CutAsync(other, 0);
        return log;
    }

    /// <summary>
    /// Durable on return. A failure is final: what is on the disk is unknown from then on, and nothing may be retried.
    /// </summary>
    public async ValueTask AppendAsync(IReadOnlyList<AcceptorRecord> records)
    {
        var group = LogGroup.Encode(_generation, _end, _nextNumber, Body(null, records));
        _device.Write(_area, _end, group);
        await _device.FlushAsync(_area);
        _end += group.Length;
        _nextNumber++;
    }

    /// <summary>
    /// Rewrites the log as this snapshot, which must say everything that was appended; durable on return.
    /// </summary>
    public async ValueTask CompactAsync(ImmutableArray<AcceptorRecord> snapshot)
    {
        var next = 1 - _area;
        var start = new AreaStart(FormatVersion, _generation + 1, Cluster, Id);
        var group = LogGroup.Encode(AreaStart.Binding, 0, 0, Body(start, snapshot));
        _device.Write(next, 0, group);
        await _device.FlushAsync(next);
        await CutAsync(_area, 0);
        _area = next;
        _generation++;
        _end = group.Length;
        _compactedEnd = group.Length;
        _nextNumber = 1;
    }

    private async ValueTask CutAsync(int area, long length)
    {
        _device.Truncate(area, length);
        await _device.FlushAsync(area);
    }

    private void ReplayGroups(byte[] area, AcceptorCore core)
    {
        var expected = 0L;
        var offset = 0L;
        while (
            LogGroup.TryRead(
                area, expected == 0 ? AreaStart.Binding : _generation, offset, out var number, out var body))
        {
            if (number != expected)
                throw new AcceptorLogDamagedException($"Group {expected} of the acceptor's log is missing.");
            ReplayBody(body, expected == 0, core);
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

    private static void ReplayBody(ReadOnlyMemory<byte> body, bool first, AcceptorCore core)
    {
        try
        {
            var r = new WireReader(body);
            if (first) AreaStart.Read(ref r);
            for (var count = r.Count(1); count > 0; count--) core.Replay(AcceptorRecordCodec.Read(ref r));
            r.End();
        }
        catch (MalformedDataException e)
        {
            throw new AcceptorLogDamagedException(
                $"A sound group of the acceptor's log cannot be understood: {e.Message}");
        }
    }

    private static byte[] Body(AreaStart? start, IReadOnlyList<AcceptorRecord> records)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var w = new WireWriter(buffer);
        start?.Write(ref w);
        w.Int32(records.Count);
        foreach (var record in records) AcceptorRecordCodec.Write(ref w, record);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }
}
