using System.Buffers;

namespace Corfu.Unit;

// Recovery: the same state changes as live, from the records alone (R3), or from a checkpoint and the records behind
// it.
internal sealed partial class UnitCore
{
    private const byte CheckpointVersion = 1;

    /// <summary>The first part of a checkpoint: the core's state besides slots and streams.</summary>
    public void WriteCheckpoint(IBufferWriter<byte> output)
    {
        var w = new WireWriter(output);
        w.Byte(CheckpointVersion);
        w.Bytes(Snapshot().Body.Span);
        _corrupt.Write(ref w);
        w.Flush();
    }

    /// <summary>The second part: streams, some at a time. Changes made meanwhile are in the records that follow the
    /// first part.</summary>
    public void WriteStreams(IBufferWriter<byte> output, ref int next) => _streams.Write(output, ref next);

    // The state changes only when all of it has been read: a checkpoint that cannot be restored gives way to an older
    // one, or to the log.
    private void Restore(ReadOnlyMemory<byte> checkpoint)
    {
        var r = new WireReader(checkpoint);
        if (r.Byte() != CheckpointVersion) throw new MalformedDataException("The checkpoint's format is unknown.");
        var restored = new UnitCore(_store, _options);
        // Everything in it is durable, so no answer needs to wait for it.
        restored.ApplyState(UnitState.Read(r.Bytes()), default);
        restored._corrupt.Read(ref r);
        restored._streams.Read(ref r);
        r.End();
        (_sealedBelow, _installed, _start, _mark, _end) =
            (restored._sealedBelow, restored._installed, restored._start, restored._mark, restored._end);
        (_streams, _corrupt) = (restored._streams, restored._corrupt);
    }

    private void Replay(in LogRecord record, in RecordPlace place)
    {
        switch (record.Kind)
        {
            case RecordKind.Open or RecordKind.Freed:
                break;
            case RecordKind.Page or RecordKind.Junk:
                ReplayPage(record, place);
                break;
            case RecordKind.Moved:
                ReplayMoved(record, place);
                break;
            case RecordKind.Trim:
                if (record.Position >= _mark && !IsReflected(_store.Find(record.Position), place))
                    ApplyTrim(record, place);
                else RaiseEnd(record.Position, place.Lsn);
                break;
            case RecordKind.TrimPrefix when Planted.Is("trim-mark-forgotten"):
                break;
            case RecordKind.TrimPrefix:
                ApplyTrimPrefix(record.Position, place);
                break;
            case RecordKind.Seal or RecordKind.Install:
                ApplyEpoch(record, place);
                break;
            case RecordKind.State:
                ApplyState(UnitState.Read(record.Body), place);
                break;
            case RecordKind.StreamTails:
                _streams.Replay(record.Body, _store.SegmentOf(place.BodyAddress));
                break;
            default:
                throw new LogDamagedException($"The log holds a record of unknown kind {(byte)record.Kind}.",
                    place.BodyAddress);
        }
    }

    private void ReplayPage(in LogRecord record, in RecordPlace place)
    {
        if (record.Position < _mark) return;
        var slot = _store.Find(record.Position);
        if (IsReflected(slot, place))
        {
            Reflected(record, place);
            return;
        }

        if (slot.State != PageState.Unwritten)
        {
            // A record in a deleted part of the log had given the page up, and it was copied here again.
            var origin = OriginOf(record, place);
            if (slot.State == PageState.Trimmed || origin == default || origin != slot.Origin)
                throw TwoValues(record, place);
            _store.Dead(slot.Address, slot.Length, wholePage: true);
        }

        ReplayAt(record, place);
    }

    // Applies only where the page is live then (R5). The page's older record may be gone, damaged or still there.
    private void ReplayMoved(in LogRecord record, in RecordPlace place)
    {
        if (record.Position < _mark) return;
        var slot = _store.Find(record.Position);
        if (slot.State == PageState.Trimmed || IsReflected(slot, place))
        {
            Reflected(record, place);
            return;
        }

        if (slot.State != PageState.Unwritten)
        {
            // An intact older record is better than a newer one that is damaged.
            if (!place.PayloadIntact && slot.State != PageState.Corrupt) return;
            var origin = OriginOf(record, place);
            if (slot.Origin != default && origin != default && slot.Origin != origin) throw TwoValues(record, place);
            _store.Dead(slot.Address, slot.Length, wholePage: true);
        }

        ReplayAt(record, place);
    }

    private static EntryOrigin OriginOf(in LogRecord record, in RecordPlace place) =>
        place.DamagedHeaders is null ? EntryCodec.PeekOrigin(record.Body.Span) : default;

    private static LogDamagedException TwoValues(in LogRecord record, in RecordPlace place) =>
        new($"The log holds two values for position {record.Position}.", place.BodyAddress);

    // A checkpoint of the slots reflects some of the records behind its beginning.
    private static bool IsReflected(in PageSlot slot, in RecordPlace place) => slot.Lsn >= place.Lsn;

    private void Reflected(in LogRecord record, in RecordPlace place)
    {
        if (place.DamagedHeaders is null)
            Index(EntryCodec.DecodeHeaders(record.Body), _store.SegmentOf(place.BodyAddress));
        _pageLsn = place.Lsn;
        RaiseEnd(record.Position, place.Lsn);
    }

    private void ReplayAt(in LogRecord record, in RecordPlace place)
    {
        if (place.DamagedHeaders is { } damaged)
        {
            _corrupt.Add(record.Position, new CorruptPage(false, damaged.Seed, damaged.Check), hidesStreams: true);
            var slot = new PageSlot(PageState.Corrupt, place.BodyAddress, record.Body.Length, record.CheckedLength,
                default, place.Lsn);
            _store.Set(record.Position, slot);
            _pageLsn = place.Lsn;
            RaiseEnd(record.Position, place.Lsn);
            return;
        }

        var entry = EntryCodec.DecodeHeaders(record.Body);
        Place(entry, record.Body.Length, record.CheckedLength, place);
        if (!place.PayloadIntact)
            _corrupt.Add(entry.Position, CorruptPage.Of(record.Body.Span[..record.CheckedLength]));
    }

    private void ApplyState(in UnitState state, in RecordPlace place)
    {
        ApplyTrimPrefix(state.Mark, place);
        if (state.Installed > _installed)
        {
            _installed = state.Installed;
            _start = state.Start;
            _streams.Freeze(_start);
        }

        if (state.SealedBelow > _sealedBelow) _sealedBelow = state.SealedBelow;
        _epochLsn = place.Lsn;
        if (state.End.Offset > 0) RaiseEnd(new LogPosition(state.End.Offset - 1), place.Lsn);
    }
}
