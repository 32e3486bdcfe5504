using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class UnitCore
{
    // The newest page, junk or tombstone record.
    private long _pageLsn;

    private UnitAnswer Write(WriteRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        if (!TryDecode(request.Entry, out var entry)) return Refuse(request, Status.BadRequest, 0);
        // R4: a writer writes under one epoch throughout. R9: what an older epoch left unfinished is not written but completed or
        // filled, so nothing of this verb belongs below the epoch's start.
        if (entry.Kind != EntryKind.Data || entry.Position.Epoch != request.Epoch || entry.Position < _start)
            return Refuse(request, Status.BadRequest, 0);
        return Store(request, entry);
    }

    private UnitAnswer Complete(CompleteRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        if (!TryDecode(request.Entry, out var entry)) return Refuse(request, Status.BadRequest, 0);
        // R9: an exact copy of what another replica holds, of this or an older epoch.
        return entry.Position.Epoch > request.Epoch ? Refuse(request, Status.BadRequest, 0) : Store(request, entry);
    }

    private UnitAnswer Fill(FillRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        if (!TryDecode(request.Entry, out var entry)) return Refuse(request, Status.BadRequest, 0);
        return entry.Kind != EntryKind.Junk || entry.Position.Epoch != request.Epoch
            ? Refuse(request, Status.BadRequest, 0)
            : Store(request, entry);
    }

    // Write-once: the first value of a position is its last. Junk takes the place like data does (TOCS 2.1).
    private UnitAnswer Store(EntryRequest request, LogEntry entry)
    {
        if (entry.Position < _mark) return Refuse(request, Status.Trimmed, _markLsn);
        var slot = _store.Find(entry.Position);
        switch (slot.State)
        {
            case PageState.Unwritten:
                break;
            case PageState.Data or PageState.Junk:
                // R4: the loser waits for the winner's record, and hears who won.
                var stored = slot.State == PageState.Data ? EntryKind.Data : EntryKind.Junk;
                return new UnitAnswer(
                    Math.Max(slot.Lsn, _epochLsn), new WriteResponse(Status.AlreadyWritten, Epoch, stored, slot.Origin));
            case PageState.Trimmed:
                return Refuse(request, Status.Trimmed, slot.Lsn);
            default:
                return Refuse(request, Status.Corrupt, slot.Lsn);
        }

        if (entry.Payload.Length > _options.MaxPayload) return Refuse(request, Status.TooLarge, 0);
        var admission = _store.Admit(request.Entry.Length, SpaceUse.Pages);
        if (admission != Status.Ok) return Refuse(request, admission, 0);
        var headerLength = request.Entry.Length - entry.Payload.Length;
        var kind = entry.Kind == EntryKind.Data ? RecordKind.Page : RecordKind.Junk;
        var place = Append(new LogRecord(kind, entry.Position, request.Entry, headerLength));
        Place(entry, request.Entry.Length, headerLength, place);
        return new UnitAnswer(place.Lsn, new WriteResponse(Status.Ok, Epoch));
    }

    private void Place(LogEntry entry, int length, int headerLength, in RecordPlace place)
    {
        var state = entry.Kind == EntryKind.Junk ? PageState.Junk : place.PayloadIntact ? PageState.Data : PageState.Corrupt;
        _store.Set(entry.Position, new PageSlot(state, place.BodyAddress, length, headerLength, entry.Origin, place.Lsn));
        if (_corrupt.Count > 0 && state != PageState.Corrupt) _corrupt.Remove(entry.Position);
        _pageLsn = place.Lsn;
        RaiseEnd(entry.Position, place.Lsn);
        if (_lostHeaders.Count > 0) _lostHeaders.Remove(entry.Position);
        Index(entry, _store.SegmentOf(place.BodyAddress));
    }

    // R8: junk is not indexed. A filler may carry the lost append's headers, but the append did not happen.
    private void Index(LogEntry entry, int segment)
    {
        if (entry.Kind != EntryKind.Data) return;
        foreach (var header in entry.Streams) _streams.Add(header.Stream, entry.Position, segment);
    }

    // The unit checks what it is given to keep: damage on the way must not become a damaged page.
    private static bool TryDecode(ReadOnlyMemory<byte> bytes, out LogEntry entry)
    {
        try
        {
            entry = EntryCodec.Decode(bytes);
            return entry.Kind == EntryKind.Data || entry.Payload.IsEmpty;
        }
        catch (MalformedDataException)
        {
            entry = null!;
            return false;
        }
    }
}
