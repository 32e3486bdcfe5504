using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    private const byte CheckpointVersion = 1;

    /// <summary>The core's state besides slots and streams, as it is now; the first part of a checkpoint.</summary>
    public void WriteCheckpoint(IBufferWriter<byte> output)
    {
        var w = new WireWriter(output);
        w.Byte(CheckpointVersion);
        w.Bytes(Snapshot().Body.Span);
        _corrupt.Write(ref w);
        w.Flush();
    }

    /// <summary>The second part: streams, some at a time. What changes meanwhile is in the records that follow the
    /// first part.</summary>
    public void WriteStreams(IBufferWriter<byte> output, ref int next) => _streams.Write(output, ref next);

    // Nothing is taken over before all of it has been read: a checkpoint that cannot be restored gives way to an older
    // one, or to the log.
    private void Restore(ReadOnlyMemory<byte> checkpoint)
    {
        var r = new WireReader(checkpoint);
        if (r.Byte() != CheckpointVersion) throw new MalformedDataException("The checkpoint's format is unknown.");
        var restored = new UnitCore(_store, _options);
        // Everything in it is durable, so no answer needs to wait for it.
        restored.ReplaySnapshot(new LogRecord(RecordKind.State, LogPosition.Zero, r.Bytes()), default);
        restored._corrupt.Read(ref r);
        restored._streams.Read(ref r);
        r.End();
        (_sealedBelow, _installed, _start, _mark, _end) =
            (restored._sealedBelow, restored._installed, restored._start, restored._mark, restored._end);
        (_streams, _corrupt) = (restored._streams, restored._corrupt);
    }
}
