using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class UnitCore
{
    private const byte CheckpointVersion = 1;

    /// <summary>The core's state besides slots and streams, as it is now; the first part of a checkpoint.</summary>
    public void WriteCheckpoint(IBufferWriter<byte> output)
    {
        var w = new WireWriter(output);
        w.Byte(CheckpointVersion);
        w.Bytes(Snapshot().Body.Span);
        w.Int32(_corrupt.Count);
        foreach (var (position, page) in _corrupt)
        {
            w.Position(position);
            w.Bool(page.HeadersIntact);
            w.Bool(_lostHeaders.Contains(position));
            w.UInt32(page.Seed);
            w.Bool(page.Check is not null);
            w.UInt32(page.Check ?? 0);
        }

        w.Flush();
    }

    /// <summary>The second part: streams, some at a time. What changes meanwhile is in the records that follow the first part.</summary>
    public void WriteStreams(IBufferWriter<byte> output, ref int next) => _streams.Write(output, ref next);

    // Nothing is taken over before all of it has been read: a checkpoint that cannot be restored gives way to an older one, or to the log.
    private void Restore(ReadOnlyMemory<byte> checkpoint)
    {
        var r = new WireReader(checkpoint);
        if (r.Byte() != CheckpointVersion) throw new MalformedDataException("The checkpoint's format is unknown.");
        var restored = new UnitCore(_store, _options);
        // Everything in it is durable, so no answer needs to wait for it.
        restored.ReplaySnapshot(new LogRecord(RecordKind.State, LogPosition.Zero, r.Bytes()), default);
        for (var pages = r.Count(8); pages > 0; pages--)
        {
            var position = r.Position();
            var headersIntact = r.Bool();
            if (r.Bool()) restored._lostHeaders.Add(position);
            var seed = r.UInt32();
            uint? check = r.Bool() ? r.UInt32() : null;
            if (check is null) r.UInt32();
            restored._corrupt[position] = new CorruptPage(headersIntact, seed, check);
        }

        restored._streams.Read(ref r);
        r.End();
        (_sealedBelow, _installed, _start, _mark, _end) = (restored._sealedBelow, restored._installed, restored._start, restored._mark, restored._end);
        (_streams, _corrupt, _lostHeaders) = (restored._streams, restored._corrupt, restored._lostHeaders);
    }
}
