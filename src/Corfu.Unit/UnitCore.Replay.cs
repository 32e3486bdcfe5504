using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    private const byte SnapshotVersion = 1;

    private void Replay(in LogRecord record, in RecordPlace place)
    {
        try
        {
            Apply(record, place);
        }
        catch (Exception error)
            when (error is MalformedDataException or ArgumentException or OverflowException or IndexOutOfRangeException)
        {
            throw new LogDamagedException(
                $"The {record.Kind} record at {place.BodyAddress} of the log cannot be applied: {error.Message} "
                + "Rebuild this unit from its replicas.",
                place.BodyAddress);
        }
    }

    /// <summary>Recovery: the same state changes as live, from the records alone (R3).</summary>
    private void Apply(in LogRecord record, in RecordPlace place)
    {
        switch (record.Kind)
        {
            case RecordKind.Open:
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
#if PLANTED
            case RecordKind.TrimPrefix when Planted.Is("trim-mark-forgotten"):
                break;
#endif
            case RecordKind.TrimPrefix:
                ApplyTrimPrefix(record.Position, place);
                break;
            case RecordKind.Seal or RecordKind.Install:
                ApplyEpoch(record, place);
                break;
            case RecordKind.State:
                ReplaySnapshot(record, place);
                break;
            case RecordKind.StreamTails:
                _streams.Replay(record.Body, _store.SegmentOf(place.BodyAddress));
                break;
            case RecordKind.Freed:
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
            // Given up in between, by a record that has gone with its part of the log, and copied here again.
            var origin = place.DamagedHeaders is null ? EntryCodec.PeekOrigin(record.Body.Span) : default;
            if (slot.State == PageState.Trimmed || origin == default || origin != slot.Origin)
                throw new LogDamagedException($"The log holds two values for position {record.Position}.",
                    place.BodyAddress);
            _store.Dead(slot.Address, slot.Length, wholePage: true);
        }

        ReplayAt(record, place);
    }

    // R5: only where the page is live then. Its older record may be gone, damaged or still there.
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
            // The older record is still there, and better than a newer one that is damaged.
            if (!place.PayloadIntact && slot.State != PageState.Corrupt) return;
            var origin = place.DamagedHeaders is null ? EntryCodec.PeekOrigin(record.Body.Span) : default;
            if (slot.Origin != default && origin != default && slot.Origin != origin)
                throw new LogDamagedException($"The log holds two values for position {record.Position}.",
                    place.BodyAddress);
            _store.Dead(slot.Address, slot.Length, wholePage: true);
        }

        ReplayAt(record, place);
    }

    // A checkpoint of the slots is begun before it is ended: of the records in between some are in it.
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
            _store.Set(
                record.Position,
                new PageSlot(PageState.Corrupt, place.BodyAddress, record.Body.Length, record.CheckedLength, default,
                    place.Lsn));
            _pageLsn = place.Lsn;
            RaiseEnd(record.Position, place.Lsn);
            return;
        }

        var entry = EntryCodec.DecodeHeaders(record.Body);
        Place(entry, record.Body.Length, record.CheckedLength, place);
        if (!place.PayloadIntact)
            _corrupt.Add(entry.Position, CorruptPage.Of(record.Body.Span[..record.CheckedLength]));
    }

    // What the deleted beginning of the log had established, besides pages below the mark.
    private LogRecord Snapshot()
    {
        var buffer = new ArrayBufferWriter<byte>(64);
        var w = new WireWriter(buffer);
        w.Byte(SnapshotVersion);
        w.Epoch(_sealedBelow);
        w.Epoch(_installed);
        w.Position(_start);
        w.Position(_mark);
        w.Position(_end);
        w.Flush();
        return new LogRecord(RecordKind.State, _mark, buffer.WrittenMemory);
    }

    private void ReplaySnapshot(in LogRecord record, in RecordPlace place)
    {
        var r = new WireReader(record.Body);
        var version = r.Byte();
        if (version != SnapshotVersion)
            throw new LogDamagedException($"State format {version} is unknown.", place.BodyAddress);
        var sealedBelow = r.Epoch();
        var installed = r.Epoch();
        var start = r.Position();
        ApplyTrimPrefix(r.Position(), place);
        var end = r.Position();
        r.End();
        if (installed > _installed)
        {
            _installed = installed;
            _start = start;
            _streams.Freeze(start);
        }

        if (sealedBelow > _sealedBelow) _sealedBelow = sealedBelow;
        _epochLsn = place.Lsn;
        if (end.Offset > 0) RaiseEnd(new LogPosition(end.Offset - 1), place.Lsn);
    }
}
