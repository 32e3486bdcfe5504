namespace Corfu.Client;

internal sealed partial class Reader
{
    /// <summary>Which replica is asked for what in the next pass; some positions get their result here.</summary>
    private List<Group> Plan(EpochView view, ReadCall call)
    {
        List<Group> groups = [];
        foreach (var item in call.Items)
        {
            if (item.Result is not null) continue;
            var chain = view.Projection.ChainOf(item.Position);
            Plan(call, item, chain);
            if (item.Result is not null) continue;
            var unit = chain.Replicas[item.Replica].Unit;
            if (Planted.Is("read-at-head")) unit = chain.Head;
            if (Planted.Is("joining-is-read")) unit = chain.Replicas[^1].Unit;
            var hasOthers = item.IsKnown && !call.IsPatient && chain.FullCount > 1;
            var group = groups.Find(g => g.Unit == unit && g.HasOthers == hasOthers);
            if (group is null) groups.Add(group = new Group(unit, hasOthers));
            group.Items.Add(item);
        }

        return groups;
    }

    private void Plan(ReadCall call, ReadItem item, Chain chain)
    {
        item.Page = null;
        item.IsKnown |= committed.Contains(item.Position);
        if (!item.IsKnown)
        {
            item.Replica = chain.FullCount - 1;
            return;
        }

        item.Replica = Choose(chain, item.Position, item.Tried | item.Slow);
        if (item.Replica < 0 && item.Slow != 0)
        {
            item.Slow = 0;
            call.IsPatient = true;
            item.Replica = Choose(chain, item.Position, item.Tried);
        }

        if (item.Replica >= 0) return;
        if (!item.IsDamaged) throw new DataLossException(item.Position);
        item.Result = new LogReadResult(item.Position, PageState.Corrupt, null);
    }

    /// <summary>The index of a full replica that is not excluded; -1 when all are. Neighbouring positions go to
    /// different replicas, which share the load.</summary>
    private static int Choose(Chain chain, LogPosition position, ulong excluded)
    {
        // Neighbours of one chain are as many positions apart as there are chains; any mixing will do.
        var first = (int)((position.Offset >> 2) % chain.FullCount);
        for (var i = 0; i < chain.FullCount; i++)
        {
            var index = (first + i) % chain.FullCount;
            if ((excluded & (1UL << index)) == 0) return index;
        }

        return -1;
    }

    private async ValueTask<Status> SettleAsync(EpochView view, ReadCall call, ReadItem item)
    {
        if (item.Page is not { } page || item.IsUnwritten) return Status.Ok;
        var chain = view.Projection.ChainOf(item.Position);
        if (!item.IsKnown) committed.Add(item.Position);
        item.IsKnown = true;
        var result = PageDecoder.Decode(page, call.Detail);
        switch (result.State)
        {
            case PageState.Unwritten:
                // R11: unwritten where it is committed is data loss; the other replicas have the page.
                item.CannotGive();
                var unit = chain.Replicas[item.Replica].Unit;
                ClientTelemetry.DataLoss.Add(1);
                ClientLog.DataLoss(logger, item.Position.ToString(), unit.ToString(), nameof(PageState.Unwritten));
                repair.Schedule(item.Position);
                return Status.Ok;
            case PageState.Corrupt:
                // Any other full replica will do (R11), and this one gets the page back.
                item.IsDamaged = true;
                item.CannotGive();
                ClientTelemetry.CorruptPages.Add(1);
                repair.Schedule(item.Position);
                return Status.Ok;
            case PageState.Trimmed:
                var status = await chains.PropagateTrimAsync(view, chain, page, call.CancellationToken);
                if (status != Status.Ok) return status;
                break;
        }

        item.Result = result;
        return Status.Ok;
    }

    /// <summary>Ok with what has come, or the unit's refusal; silent where no other replica can be asked.</summary>
    private async Task<(Status Status, Exception? Silent)> AskAsync(EpochView view, ReadCall call, Group group)
    {
        var asking = AskUnitAsync(view, call, group);
        Exception? silent = null;
        try
        {
            if (group.HasOthers && !await clock.InTimeAsync(asking, options.ReadTimeout))
            {
                ClientTelemetry.ReadHedges.Add(1);
                asking.Abandon();
                foreach (var item in group.Items) item.IsSlow();
                return (Status.Ok, null);
            }

            var status = await asking;
            if (status != Status.Ok && (status == Status.Sealed || !group.HasOthers)) return (status, null);
        }
        catch (TransportException e)
        {
            if (!group.HasOthers) silent = e;
        }

        for (var i = 0; i < group.Items.Count; i++)
        {
            if (i < group.Pages.Count) group.Items[i].Page = group.Pages[i];
            else if (group.HasOthers) group.Items[i].IsSlow();
        }

        return (Status.Ok, silent);
    }

    private async Task<Status> AskUnitAsync(EpochView view, ReadCall call, Group group)
    {
        // An answer ends at the unit's limit of bytes; the rest is asked for again.
        while (group.Pages.Count < group.Items.Count)
        {
            var wanted = group.Items.Skip(group.Pages.Count).Take(MessageLimits.MaxItems).Select(i => i.Position);
            var response = await units.CallAsync(
                view, group.Unit, new ReadRequest(view.Epoch, [.. wanted], call.Detail), call.CancellationToken);
            if (!response.IsOk) return response.Status;
            group.Pages.AddRange(response.Pages);
        }

        return Status.Ok;
    }

    /// <summary>The positions of one call that one unit is asked for in one pass, and what it has answered.</summary>
    /// <param name="hasOthers">Another replica can give the pages too, so a silent one is not waited for.</param>
    private sealed class Group(NodeId unit, bool hasOthers)
    {
        public NodeId Unit { get; } = unit;

        public bool HasOthers { get; } = hasOthers;

        public List<ReadItem> Items { get; } = [];

        public List<PageResult> Pages { get; } = [];
    }
}
