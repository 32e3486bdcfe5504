using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class UnitCore
{
    // Pages in state Corrupt. Rare, so a dictionary will do; found again by the replay, or by the next read.
    private readonly Dictionary<LogPosition, CorruptPage> _corrupt = [];

    // Of those, found by the replay: nobody knows which streams they belong to, so this unit's word on stream tails is not enough (R4).
    private readonly HashSet<LogPosition> _lostHeaders = [];

    /// <summary>Pages known to be damaged and neither repaired nor trimmed.</summary>
    public int CorruptPages => _corrupt.Count;

    // R4: a corrupt page takes back the entry that it held, and nothing else.
    private UnitAnswer Repair(RepairRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        if (!TryDecode(request.Entry, out var entry) || entry.Position.Epoch > request.Epoch) return Refuse(request, Status.BadRequest, 0);
        if (entry.Position < _mark) return Refuse(request, Status.Trimmed, _markLsn);
        var slot = _store.Find(entry.Position);
        switch (slot.State)
        {
            case PageState.Unwritten:
                return Refuse(request, Status.Unwritten, 0);
            case PageState.Trimmed:
                return Refuse(request, Status.Trimmed, slot.Lsn);
            case PageState.Data or PageState.Junk:
                var same = slot.Origin == entry.Origin && slot.Length == request.Entry.Length
                    && (slot.State == PageState.Data) == (entry.Kind == EntryKind.Data);
                return Refuse(request, same ? Status.Ok : Status.Conflict, slot.Lsn);
        }

        if (!_corrupt.GetValueOrDefault(entry.Position).IsOf(slot, entry, request.Entry.Span)) return Refuse(request, Status.Conflict, slot.Lsn);
        var admission = _store.Admit(request.Entry.Length, SpaceUse.Pages);
        if (admission != Status.Ok) return Refuse(request, admission, 0);
        _store.Dead(slot.Address, slot.Length, wholePage: true);
        var headerLength = request.Entry.Length - entry.Payload.Length;
        var place = Append(new LogRecord(RecordKind.Moved, entry.Position, request.Entry, headerLength));
        Place(entry, request.Entry.Length, headerLength, place);
        return new UnitAnswer(Math.Max(place.Lsn, _epochLsn), new AckResponse(Status.Ok, Epoch));
    }

    /// <summary>
    /// A read found an intact page damaged: from now on its state says so (R4). Never "unwritten", so never filled.
    /// </summary>
    /// <param name="address">Where it was read: what has been repaired or moved meanwhile is another matter.</param>
    public void MarkCorrupt(LogPosition position, long address, CorruptPage page)
    {
        var slot = _store.Find(position);
        if (slot.State is not (PageState.Data or PageState.Junk) || slot.Address != address) return;
        _store.Set(position, slot with { State = PageState.Corrupt });
        _corrupt[position] = page;
    }
}
