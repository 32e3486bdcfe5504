using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class UnitCore
{
    private UnitAnswer Read(ReadRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        var pages = new PlannedPage[request.Positions.Length];
        // R4: also "unwritten" and "trimmed" are answers about durable state.
        var lsn = Math.Max(_epochLsn, _markLsn);
        var fetch = false;
        for (var i = 0; i < pages.Length; i++)
        {
            var position = request.Positions[i];
            var belowMark = position < _mark;
            var slot = belowMark ? new PageSlot(PageState.Trimmed, 0, 0, 0, default, 0) : _store.Find(position);
            lsn = Math.Max(lsn, slot.Lsn);
            fetch |= slot.HeaderLength > 0;
            pages[i] = new PlannedPage(position, slot, belowMark);
        }

        var plan = new ReadPlan(Epoch, request.Detail, pages);
        return fetch && request.Detail != ReadDetail.State
            ? new UnitAnswer(lsn, null, plan)
            : new UnitAnswer(lsn, PageReader.WithoutBytes(plan));
    }
}
