using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

internal sealed partial class Reader
{
    private enum Settled
    {
        Open,
        Unwritten,
        Final,
    }

    /// <summary>
    /// Which replica is asked for what in the next pass; positions that need no question are final already.
    /// </summary>
    private List<Group> Plan(EpochView view, ReadCall call)
    {
        List<Group> groups = [];
        var byKey = new Dictionary<(NodeId Unit, bool HasOthers), Group>();
        var open = new List<int>(call.Open.Count);
        foreach (var index in call.Open)
        {
            var chain = view.Projection.ChainOf(call.Positions[index]);
            if (!PlanOne(call, index, chain)) continue;
            open.Add(index);
            ref var item = ref call.Items[index];
            var unit = chain.Replicas[item.Place].Unit;
#if PLANTED
            if (Planted.Is("read-at-head")) unit = chain.Head;
            if (Planted.Is("joining-is-read")) unit = chain.Replicas[^1].Unit;
#endif
            var hasOthers = item.Known && !call.Patient && chain.FullCount > 1;
            if (!byKey.TryGetValue((unit, hasOthers), out var group))
            {
                byKey[(unit, hasOthers)] = group = new Group(unit, hasOthers);
                groups.Add(group);
            }

            group.Indexes.Add(index);
        }

        call.Open = open;
        return groups;
    }

    private bool PlanOne(ReadCall call, int index, Chain chain)
    {
        ref var item = ref call.Items[index];
        var position = call.Positions[index];
        item.Page = null;
        item.Known |= committed.Contains(position);
        if (!item.Known)
        {
            item.Place = chain.FullCount - 1;
            return true;
        }

        item.Place = Choose(chain, position, item.Tried | item.Slow);
        if (item.Place < 0 && item.Slow != 0)
        {
            item.Slow = 0;
            call.Patient = true;
            item.Place = Choose(chain, position, item.Tried);
        }

        if (item.Place >= 0) return true;
        if (!item.Damaged) throw new DataLossException(position);
        call.Results[index] = new LogReadResult(position, PageState.Corrupt, null);
        return false;
    }

    /// <summary>
    /// The place of a full replica that is not excluded; -1 when all are. Neighbouring positions go to different
    /// replicas, which share the load.
    /// </summary>
    private static int Choose(Chain chain, LogPosition position, ulong excluded)
    {
        // Neighbours of one chain are as many positions apart as there are chains; any mixing will do.
        var first = (int)((position.Offset >> 2) % chain.FullCount);
        for (var i = 0; i < chain.FullCount; i++)
        {
            var place = (first + i) % chain.FullCount;
            if ((excluded & (1UL << place)) == 0) return place;
        }

        return -1;
    }

    private async ValueTask<Attempt<Settled>> SettleAsync(EpochView view, ReadCall call, int index)
    {
        var item = call.Items[index];
        var position = call.Positions[index];
        var chain = view.Projection.ChainOf(position);
        if (item.Page is not { } page) return Settled.Open;
        if (page.State == PageState.Unwritten)
        {
            if (!item.Known) return Settled.Unwritten;
            Lost(call, index, position, chain);
            return Settled.Open;
        }

        if (!item.Known) Know(call, index, position);
        return await TakeAsync(view, chain, page, call, index);
    }

    private void Know(ReadCall call, int index, LogPosition position)
    {
        call.Items[index].Known = true;
        committed.Add(position);
    }

    // R11: unwritten where it is committed is data loss, reported and then mended; the other replicas have the page.
    private void Lost(ReadCall call, int index, LogPosition position, Chain chain)
    {
        var place = call.Items[index].Place;
        call.Items[index].Tried |= 1UL << place;
        ClientTelemetry.DataLoss.Add(1);
        ClientLog.DataLoss(
            logger, position.ToString(), chain.Replicas[place].Unit.ToString(), nameof(PageState.Unwritten));
        repair.Schedule(position);
    }

    private async ValueTask<Attempt<Settled>> TakeAsync(
        EpochView view, Chain chain, PageResult page, ReadCall call, int index)
    {
        var result = PageDecoder.Decode(page, call.Detail);
        switch (result.State)
        {
            case PageState.Data or PageState.Junk:
                call.Results[index] = result;
                return Settled.Final;
            case PageState.Trimmed:
                var status = await chains.PropagateTrimAsync(view, chain, page, call.CancellationToken);
                if (status != Status.Ok) return status;
                call.Results[index] = result;
                return Settled.Final;
            default:
                // Damaged: any other full replica will do (R11), and this one gets the page back.
                call.Items[index].Damaged = true;
                call.Items[index].Tried |= 1UL << call.Items[index].Place;
                ClientTelemetry.CorruptPages.Add(1);
                repair.Schedule(page.Position);
                return Settled.Open;
        }
    }

    /// <summary>The positions of one call that one unit is asked for in one pass, and what it has answered.</summary>
    /// <param name="hasOthers">Another replica can give the pages too, so a silent one is not waited for.</param>
    private sealed class Group(NodeId unit, bool hasOthers)
    {
        public NodeId Unit { get; } = unit;

        public bool HasOthers { get; } = hasOthers;

        public List<int> Indexes { get; } = [];

        public List<PageResult> Pages { get; } = [];
    }

    /// <summary>
    /// Ok with whatever has come; or why the epoch's unit refuses; or, where there is no other replica to ask, that it
    /// is silent.
    /// </summary>
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
                foreach (var index in group.Indexes) call.Items[index].Slow |= 1UL << call.Items[index].Place;
                return (Status.Ok, null);
            }

            var status = await asking;
            if (status != Status.Ok && (status == Status.Sealed || !group.HasOthers)) return (status, null);
        }
        catch (TransportException e)
        {
            if (!group.HasOthers) silent = e;
        }

        for (var i = 0; i < group.Indexes.Count; i++)
        {
            ref var item = ref call.Items[group.Indexes[i]];
            if (i < group.Pages.Count) item.Page = group.Pages[i];
            else if (group.HasOthers) item.Slow |= 1UL << item.Place;
        }

        return (Status.Ok, silent);
    }

    private async Task<Status> AskUnitAsync(EpochView view, ReadCall call, Group group)
    {
        // An answer ends at the read budget; the rest is asked for again.
        for (var done = 0; done < group.Indexes.Count; done = group.Pages.Count)
        {
            var wanted = ImmutableArray.CreateBuilder<LogPosition>(
                Math.Min(group.Indexes.Count - done, MessageLimits.MaxItems));
            for (var i = 0; i < wanted.Capacity; i++) wanted.Add(call.Positions[group.Indexes[done + i]]);
            var response = await units.CallAsync(
                view, group.Unit, new ReadRequest(view.Epoch, wanted.MoveToImmutable(), call.Detail),
                call.CancellationToken);
            if (!response.IsOk) return response.Status;
            group.Pages.AddRange(response.Pages);
        }

        return Status.Ok;
    }
}
