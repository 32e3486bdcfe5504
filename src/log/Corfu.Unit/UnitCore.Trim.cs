namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    // R5: an unwritten position is marked, a page leaves its headers behind so that stream walks survive.
    private UnitAnswer Trim(TrimRequest request)
    {
        if (IsOutOfReach(request.Position)) return Refuse(request, Status.BadRequest);
        var tombstone = ReadOnlyMemory<byte>.Empty;
        if (!request.Tombstone.IsEmpty && !TryTombstone(request, out tombstone))
            return Refuse(request, Status.BadRequest);
        if (request.Position < _mark) return Ack(_markLsn);
        var slot = _store.Find(request.Position);
        // Final, except that a bare mark may still learn the headers from another replica.
        var changes = slot.State != PageState.Trimmed || (slot.HeaderLength == 0 && !tombstone.IsEmpty);
        if (!changes) return Ack(slot.Lsn);
        // Headers that are damaged here are better taken from the replica that sent them along.
        if (slot.HeaderLength > 0 && HeadersIntact(request.Position, slot)) tombstone = default;
        if (!Admits(request, tombstone.Length, SpaceUse.Trims, out var full)) return full;
        var record = new LogRecord(RecordKind.Trim, request.Position, tombstone);
        var place = _store.Append(record);
        ApplyTrim(record, place);
        return Ack(place.Lsn);
    }

    private UnitAnswer TrimPrefix(TrimPrefixRequest request)
    {
        if (IsOutOfReach(request.Below)) return Refuse(request, Status.BadRequest);
        if (request.Below > _mark)
        {
            if (!Admits(request, 0, SpaceUse.Vital, out var full)) return full;
            ApplyTrimPrefix(request.Below, _store.Append(new LogRecord(RecordKind.TrimPrefix, request.Below)));
            _store.Release(_mark);
        }

        return Ack(_markLsn);
    }

    private void ApplyTrim(in LogRecord record, in RecordPlace place)
    {
        var slot = _store.Find(record.Position);
        if (slot.State is not (PageState.Trimmed or PageState.Unwritten))
            _store.Dead(slot.Address, slot.Length - slot.HeaderLength, wholePage: true);
        if (record.Body.IsEmpty)
        {
            _store.Set(record.Position, slot with { State = PageState.Trimmed, Lsn = place.Lsn });
        }
        else
        {
            var entry = EntryCodec.DecodeHeaders(record.Body);
            var length = record.Body.Length;
            _store.Set(record.Position,
                new PageSlot(PageState.Trimmed, place.BodyAddress, length, length, entry.Origin, place.Lsn));
            Index(entry, _store.SegmentOf(place.BodyAddress));
            _corrupt.StreamsKnown(record.Position);
        }

        _corrupt.Remove(record.Position);
        _pageLsn = place.Lsn;
        RaiseEnd(record.Position, place.Lsn);
    }

    private bool HeadersIntact(LogPosition position, in PageSlot slot) =>
        slot.State != PageState.Corrupt || _corrupt[position].HeadersIntact;

    private void ApplyTrimPrefix(LogPosition below, in RecordPlace place)
    {
        if (below <= _mark) return;
        _mark = new LogPosition(below.Offset);
        _markLsn = place.Lsn;
        _corrupt.RemoveBelow(_mark);
        if (_mark.Offset > 0) RaiseEnd(new LogPosition(_mark.Offset - 1), place.Lsn);
    }

    private static bool TryTombstone(TrimRequest request, out ReadOnlyMemory<byte> tombstone)
    {
        tombstone = default;
        try
        {
            if (EntryCodec.DecodeHeaders(request.Tombstone).Position != request.Position) return false;
            tombstone = request.Tombstone[..EntryCodec.HeaderLength(request.Tombstone.Span)];
            return true;
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }
}
