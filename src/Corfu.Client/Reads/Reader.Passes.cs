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

    private enum Ask : byte
    {
        Page,

        /// <summary>Another replica can give the page too, so a slow one is not waited for.</summary>
        PageHedged,
        State,
    }

    /// <summary>Which replica is asked for what in the next pass; positions that need no question are final already.</summary>
    private List<Group> Plan(EpochView view, ReadCall call)
    {
        List<Group> groups = [];
        var byKey = new Dictionary<(NodeId Unit, Ask Ask), Group>();
        var open = new List<int>(call.Open.Count);
        foreach (var index in call.Open)
        {
            var position = call.Positions[index];
            var chain = view.Projection.ChainOf(position);
            if (PlanOne(call, index, position, chain)) open.Add(index);
            else continue;
            ref var item = ref call.Items[index];
            var unit = chain.Replicas[item.Place].Unit;
#if PLANTED
            if (Planted.Is("read-at-head")) unit = chain.Head;
            if (Planted.Is("joining-is-read")) unit = chain.Replicas[^1].Unit;
#endif
            var wait = item.Way == ReadCall.Way.Tail || call.Patient || chain.FullCount == 1;
            GroupOf(unit, wait ? Ask.Page : Ask.PageHedged).Indexes.Add(index);
            if (item.Way == ReadCall.Way.Split) GroupOf(chain.Tail, Ask.State).Indexes.Add(index);
        }

        call.Open = open;
        return groups;

        Group GroupOf(NodeId unit, Ask ask)
        {
            if (!byKey.TryGetValue((unit, ask), out var group))
            {
                byKey[(unit, ask)] = group = new Group(unit, ask);
                groups.Add(group);
            }

            return group;
        }
    }

    private bool PlanOne(ReadCall call, int index, LogPosition position, Chain chain)
    {
        ref var item = ref call.Items[index];
        item.Page = item.State = null;
        if (item.Known || committed.Contains(position))
        {
            // Neighbours of one chain are as many positions apart as there are chains; any mixing will do.
            var place = _speeds.Choose(chain, position.Offset >> 2, item.Tried | item.Slow, preferTail: false);
            if (place < 0 && item.Slow != 0)
            {
                item.Slow = 0;
                call.Patient = true;
                place = _speeds.Choose(chain, position.Offset >> 2, item.Tried, preferTail: false);
            }

            if (place >= 0)
            {
                item.Way = ReadCall.Way.Known;
                item.Place = place;
                return true;
            }

            if (!item.Damaged) throw new DataLossException(position);
            call.Results[index] = new LogReadResult(position, PageState.Corrupt, null);
            return false;
        }

        item.Place = call.Detail == ReadDetail.State
            ? chain.FullCount - 1
            : _speeds.Choose(chain, position.Offset, item.Tried | item.Slow, preferTail: true);
        if (item.Place < 0) item.Place = chain.FullCount - 1;
        item.Way = item.Place == chain.FullCount - 1 ? ReadCall.Way.Tail : ReadCall.Way.Split;
        return true;
    }

    private async ValueTask<Attempt<Settled>> SettleAsync(EpochView view, ReadCall call, int index)
    {
        var item = call.Items[index];
        var position = call.Positions[index];
        var chain = view.Projection.ChainOf(position);
        if (item.Way == ReadCall.Way.Split)
        {
            if (item.State is not { } state) return Settled.Open;
            if (state.State == PageState.Unwritten) return Settled.Unwritten;
            Know(call, index, position);

            // The page may have been looked for before it was there. And a trim has to be met where its headers are.
            if (state.State == PageState.Trimmed) return await TrimmedAsync(view, chain, call, index);
            if (item.Page is not { } near || near.State == PageState.Unwritten) return Settled.Open;
            return await TakeAsync(view, chain, near, call, index);
        }

        if (item.Page is not { } page) return Settled.Open;
        if (page.State == PageState.Unwritten)
        {
            if (item.Way == ReadCall.Way.Tail) return Settled.Unwritten;
            Lost(call, index, position, chain);
            return Settled.Open;
        }

        if (item.Way == ReadCall.Way.Tail) Know(call, index, position);
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
        ClientLog.DataLoss(core.Logger, position.ToString(), chain.Replicas[place].Unit.ToString(), nameof(PageState.Unwritten));
        mender.Schedule(position);
    }

    private async ValueTask<Attempt<Settled>> TakeAsync(EpochView view, Chain chain, PageResult page, ReadCall call, int index)
    {
        var result = PageDecoder.Decode(page, call.Detail);
        switch (result.State)
        {
            case PageState.Data or PageState.Junk:
                call.Results[index] = result;
                return Settled.Final;
            case PageState.Trimmed:
                var status = await chains.BringTrimAsync(view, chain, page, call.CancellationToken);
                if (status != Status.Ok) return status;
                call.Results[index] = result;
                return Settled.Final;
            default:
                // Damaged: any other full replica will do (R11), and this one gets the page back.
                call.Items[index].Damaged = true;
                call.Items[index].Tried |= 1UL << call.Items[index].Place;
                ClientTelemetry.CorruptPages.Add(1);
                mender.Schedule(page.Position);
                return Settled.Open;
        }
    }

    private async ValueTask<Attempt<Settled>> TrimmedAsync(EpochView view, Chain chain, ReadCall call, int index)
    {
        var tail = chain.FullCount - 1;
        var look = await chains.LookAsync(view, chain, tail, call.Positions[index], ReadDetail.Headers, call.CancellationToken);
        if (!look.IsDone) return look.Status;
        call.Results[index] = PageDecoder.Decode(look.Value, call.Detail);
        return Settled.Final;
    }

    /// <summary>The positions of one call that one unit is asked for in one pass, and what it has answered.</summary>
    private sealed class Group(NodeId unit, Ask ask)
    {
        public NodeId Unit { get; } = unit;

        public Ask Ask { get; } = ask;

        public List<int> Indexes { get; } = [];

        public List<PageResult> Pages { get; } = [];
    }

    /// <summary>Ok with whatever has come; or why the epoch's unit refuses; or, where there is no other replica to ask, that it is silent.</summary>
    private async Task<(Status Status, Exception? Silent)> AskAsync(EpochView view, ReadCall call, Group group)
    {
        var asking = AskUnitAsync(view, call, group);
        var hedged = group.Ask == Ask.PageHedged;
        Exception? silent = null;
        try
        {
            if (hedged && !asking.IsCompleted && !await core.InTimeAsync(asking, _speeds.HedgeAfter(group.Unit, core.Options), call.CancellationToken))
            {
                ClientTelemetry.ReadHedges.Add(1);
                _speeds.Failed(group.Unit);
                asking.Abandon();
                foreach (var index in group.Indexes) call.Items[index].Slow |= 1UL << call.Items[index].Place;
                return (Status.Ok, null);
            }

            var status = await asking;
            if (status is not (Status.Ok or Status.Sealed) && hedged) _speeds.Failed(group.Unit);
            else if (status != Status.Ok) return (status, null);
        }
        catch (TransportException e)
        {
            _speeds.Failed(group.Unit);
            if (!hedged) silent = e;
        }

        for (var i = 0; i < group.Indexes.Count; i++)
        {
            ref var item = ref call.Items[group.Indexes[i]];
            if (i >= group.Pages.Count)
            {
                if (hedged) item.Slow |= 1UL << item.Place;
            }
            else if (group.Ask == Ask.State)
            {
                item.State = group.Pages[i];
            }
            else
            {
                item.Page = group.Pages[i];
            }
        }

        return (Status.Ok, silent);
    }

    private async Task<Status> AskUnitAsync(EpochView view, ReadCall call, Group group)
    {
        var detail = group.Ask == Ask.State ? ReadDetail.State : call.Detail;

        // An answer ends at the read budget; the rest is asked for again.
        for (var done = 0; done < group.Indexes.Count; done = group.Pages.Count)
        {
            var wanted = ImmutableArray.CreateBuilder<LogPosition>(Math.Min(group.Indexes.Count - done, MessageLimits.MaxItems));
            for (var i = 0; i < wanted.Capacity; i++) wanted.Add(call.Positions[group.Indexes[done + i]]);
            var began = core.Time.GetTimestamp();
            var request = new ReadRequest(view.Epoch, wanted.MoveToImmutable(), detail);
            var response = await core.CallUnitAsync(view, group.Unit, request, call.CancellationToken);
            if (!response.IsOk) return response.Status;
            _speeds.Answered(group.Unit, core.Time.GetElapsedTime(began));
            group.Pages.AddRange(response.Pages);
        }

        return Status.Ok;
    }
}
