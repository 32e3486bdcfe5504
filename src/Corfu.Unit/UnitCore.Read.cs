using Corfu.Protocol;

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
}
