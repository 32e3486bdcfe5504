namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    private UnitAnswer Write(WriteRequest request)
    {
        if (!TryDecode(request.Entry, out var entry)) return Refuse(request, Status.BadRequest);
        // R4: a writer writes under one epoch throughout. R9: what an older epoch left unfinished is completed or
        // filled, so nothing is written below the epoch's start.
        if (entry.Kind != EntryKind.Data || entry.Position.Epoch != request.Epoch || entry.Position < _start)
            return Refuse(request, Status.BadRequest);
        if (_streams.Count >= _options.MaxStreams && entry.Streams.Any(h => !_streams.Knows(h.Stream)))
            return Refuse(request, Status.NoSpace);
        return Answer(Store(request.Entry, entry, out var lsn), lsn);
    }

    private UnitAnswer Complete(CompleteRequest request) =>
        Answer(CompleteOne(request.Entry, request.Epoch, out var lsn), lsn);

    // R4: one answer for all, which waits for the newest record that any of the outcomes reflects.
    private UnitAnswer CompleteMany(CompleteManyRequest request)
    {
        var outcomes = ImmutableArray.CreateBuilder<WriteOutcome>(request.Entries.Length);
        var lsn = _epochLsn;
        foreach (var entry in request.Entries)
        {
            var outcome = CompleteOne(entry, request.Epoch, out var own);
            if (outcome.Status is Status.Overloaded or Status.NoSpace)
            {
                if (outcomes.Count == 0) return Refuse(request, outcome.Status, own);
                break;
            }

            if (Planted.Is("bulk-copies-wait-for-nothing")) own = 0;
            lsn = Math.Max(lsn, own);
            outcomes.Add(outcome);
        }

        return new UnitAnswer(lsn, new CompleteManyResponse(Status.Ok, Epoch, outcomes.DrainToImmutable()));
    }

    // R9: an exact copy of what another replica holds, of this or an older epoch.
    private WriteOutcome CompleteOne(ReadOnlyMemory<byte> bytes, Epoch epoch, out long lsn)
    {
        lsn = 0;
        return TryDecode(bytes, out var entry) && entry.Position.Epoch <= epoch
            ? Store(bytes, entry, out lsn)
            : new WriteOutcome(Status.BadRequest);
    }

    private UnitAnswer Fill(FillRequest request) =>
        TryDecode(request.Entry, out var entry) && entry.Kind == EntryKind.Junk && entry.Position.Epoch == request.Epoch
            ? Answer(Store(request.Entry, entry, out var lsn), lsn)
            : Refuse(request, Status.BadRequest);

    private UnitAnswer Answer(in WriteOutcome outcome, long lsn) =>
        new(Math.Max(lsn, _epochLsn), new WriteResponse(outcome, Epoch));

    // Write-once: the first value of a position is its last. Junk takes the place like data does (TOCS 2.1).
    private WriteOutcome Store(ReadOnlyMemory<byte> bytes, LogEntry entry, out long lsn)
    {
        lsn = _markLsn;
        if (entry.Position < _mark) return new WriteOutcome(Status.Trimmed);
        var slot = _store.Find(entry.Position);
        lsn = slot.Lsn;
        if (slot.State != PageState.Unwritten) return Occupied(slot);
        lsn = 0;
        if (IsOutOfReach(entry.Position)) return new WriteOutcome(Status.BadRequest);
        if (entry.Payload.Length > _options.MaxPayload) return new WriteOutcome(Status.TooLarge);
        var use = entry.Kind == EntryKind.Junk ? SpaceUse.Fills : SpaceUse.Pages;
        var admission = _store.Admit(bytes.Length, use);
        if (Planted.Is("full-disks-acknowledge") && admission == Status.NoSpace) return new WriteOutcome(Status.Ok);
        if (admission != Status.Ok) return new WriteOutcome(admission);
        var headerLength = bytes.Length - entry.Payload.Length;
        var kind = entry.Kind == EntryKind.Data ? RecordKind.Page : RecordKind.Junk;
        var place = _store.Append(new LogRecord(kind, entry.Position, bytes, headerLength));
        Place(entry, bytes.Length, headerLength, place);
        lsn = place.Lsn;
        return new WriteOutcome(Status.Ok);
    }

    // R4: the answer waits for the record that won, and names its writer.
    private static WriteOutcome Occupied(in PageSlot slot) => slot.State switch
    {
        PageState.Data => new WriteOutcome(Status.AlreadyWritten, EntryKind.Data, slot.Origin),
        PageState.Junk => new WriteOutcome(Status.AlreadyWritten, EntryKind.Junk, slot.Origin),
        PageState.Trimmed => new WriteOutcome(Status.Trimmed),
        _ => new WriteOutcome(Status.Corrupt),
    };

    private void Place(LogEntry entry, int length, int headerLength, in RecordPlace place)
    {
        var state = entry.Kind == EntryKind.Junk ? PageState.Junk
            : place.PayloadIntact ? PageState.Data : PageState.Corrupt;
        var slot = new PageSlot(state, place.BodyAddress, length, headerLength, entry.Origin, place.Lsn);
        _store.Set(entry.Position, slot);
        if (state != PageState.Corrupt) _corrupt.Remove(entry.Position);
        _pageLsn = place.Lsn;
        RaiseEnd(entry.Position, place.Lsn);
        _corrupt.StreamsKnown(entry.Position);
        Index(entry, _store.SegmentOf(place.BodyAddress));
    }

    // R8: junk is not indexed. It may carry the lost append's headers, but the append did not happen.
    private void Index(LogEntry entry, int segment)
    {
        if (entry.Kind != EntryKind.Data) return;
        foreach (var header in entry.Streams) _streams.Add(header.Stream, entry.Position, segment);
    }

    // Checked before it is stored: damage on the way must not become a damaged page.
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
