namespace Corfu.Unit;

internal sealed partial class UnitCore
{
    private UnitAnswer Read(ReadRequest request)
    {
        var pages = new PlannedPage[request.Positions.Length];
        // R4: also "unwritten" and "trimmed" are answers about durable state.
        var lsn = Math.Max(_epochLsn, _markLsn);
        var fetch = false;
        for (var i = 0; i < pages.Length; i++)
        {
            (pages[i], var own) = Plan(request.Positions[i]);
            lsn = Math.Max(lsn, own);
            fetch |= pages[i].Slot.HeaderLength > 0;
        }

        var plan = new ReadPlan(Epoch, request.Detail, pages);
        return fetch && request.Detail != ReadDetail.State
            ? new UnitAnswer(lsn, null, plan)
            : new UnitAnswer(lsn, PageReader.WithoutBytes(plan));
    }

    public (PlannedPage Page, long Lsn) Plan(LogPosition position)
    {
        if (position < _mark)
            return (new PlannedPage(position, new PageSlot(PageState.Trimmed, 0, 0, 0, default, 0), true), _markLsn);
        var slot = _store.Find(position);
        return (new PlannedPage(position, slot, false), slot.Lsn);
    }

    // R4: a corrupt page takes back the entry that it held, and nothing else.
    private UnitAnswer Repair(RepairRequest request)
    {
        if (!TryDecode(request.Entry, out var entry) || entry.Position.Epoch > request.Epoch)
            return Refuse(request, Status.BadRequest);
        if (entry.Position < _mark) return Refuse(request, Status.Trimmed, _markLsn);
        var slot = _store.Find(entry.Position);
        switch (slot.State)
        {
            case PageState.Unwritten:
                return Refuse(request, Status.Unwritten);
            case PageState.Trimmed:
                return Refuse(request, Status.Trimmed, slot.Lsn);
            case PageState.Data or PageState.Junk:
                var same = slot.Origin == entry.Origin && slot.Length == request.Entry.Length
                    && (slot.State == PageState.Data) == (entry.Kind == EntryKind.Data);
                return Refuse(request, same ? Status.Ok : Status.Conflict, slot.Lsn);
        }

        if (!_corrupt[entry.Position].IsOf(slot, entry, request.Entry.Span))
            return Refuse(request, Status.Conflict, slot.Lsn);
        if (!Admits(request, request.Entry.Length, SpaceUse.Pages, out var full)) return full;
        _store.Dead(slot.Address, slot.Length, wholePage: true);
        var headerLength = request.Entry.Length - entry.Payload.Length;
        var place = _store.Append(new LogRecord(RecordKind.Moved, entry.Position, request.Entry, headerLength));
        Place(entry, request.Entry.Length, headerLength, place);
        return Ack(place.Lsn);
    }

    public void MarkCorrupt(LogPosition position, long address, CorruptPage page)
    {
        var slot = _store.Find(position);
        if (slot.State is not (PageState.Data or PageState.Junk) || slot.Address != address) return;
        _store.Set(position, slot with { State = PageState.Corrupt });
        _corrupt.Add(position, page);
    }

    public bool MarkSound(LogPosition position, long address, ReadOnlyMemory<byte> entry)
    {
        if (position < _mark) return true;
        var slot = _store.Find(position);
        if (slot.State != PageState.Corrupt || slot.Address != address) return true;
        if (!TryDecode(entry, out var found) || found.Position != position) return false;
        if (!_corrupt[position].IsOf(slot, found, entry.Span)) return false;
        // No new record: the page's own says it all. Streams of a page whose headers were lost become known.
        var newest = _pageLsn;
        Place(found, slot.Length, slot.HeaderLength, new RecordPlace(address, slot.Lsn));
        _pageLsn = Math.Max(newest, slot.Lsn);
        return true;
    }
}
