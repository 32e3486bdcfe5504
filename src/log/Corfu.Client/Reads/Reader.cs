using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Reads (CORFU 2.4; R11). One request per unit serves all its positions of a call.</summary>
/// <remarks>
/// 1. Plan: a position known committed goes to any full replica, any other one to the tail of its chain.
/// 2. Ask the units. A replica of a committed page that fails, or is silent for
/// <see cref="CorfuClientOptions.ReadTimeout"/>, is left for another.
/// 3. Settle each answer: data, junk and trimmed are final. A lost or damaged page is read elsewhere, and repaired.
/// Back to step 1 for the rest.
/// 4. Unwritten at the tail: holes are closed if the caller wants that. Unwritten is answered only under a confirmed
/// epoch.
/// </remarks>
internal sealed class Reader(
    UnitCalls units, ChainReplication chains, HoleCloser closer, EpochConfirmer confirmer, CommittedSet committed,
    ReadRepair repair, Retry retry, ClientClock clock, CorfuClientOptions options, ILogger logger)
{
    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        if (positions.IsEmpty) return [];
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.read");
        activity?.SetTag("corfu.positions", positions.Length);
        var began = clock.GetTimestamp();
        var call = new ReadCall(positions, detail, mode, cancellationToken);
        await retry.RunAsync("A read", view => TryAsync(view, call), cancellationToken);
        ClientTelemetry.ReadPositions.Add(positions.Length);
        ClientTelemetry.ReadTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        return [.. call.Items.Select(i => i.Result!.Value)];
    }

    /// <summary>Passes over the open positions until only unwritten ones are left. Final results stay, whatever becomes
    /// of the rest.</summary>
    private async ValueTask<Status> TryAsync(EpochView view, ReadCall call)
    {
        foreach (var item in call.Items) item.Reset();
        while (true)
        {
            // 1.
            var groups = Plan(view, call);
            if (groups.Count == 0) return Status.Ok;

            // 2.
            var answers = groups.Count == 1
                ? [await AskAsync(view, call, groups[0])]
                : await Task.WhenAll(groups.Select(g => AskAsync(view, call, g)));
            var trouble = answers.FirstOrDefault(a => a.Status != Status.Ok).Status;
            var silent = answers.FirstOrDefault(a => a.Silent is not null).Silent;

            // 3. Answers are settled even if other units fail.
            var open = Array.FindAll(call.Items, i => i.Result is null);
            foreach (var item in open)
            {
                var status = await SettleAsync(view, call, item);
                if (trouble == Status.Ok) trouble = status;
            }

            if (trouble != Status.Ok) return trouble;
            if (silent is not null) throw silent;

            // 4.
            open = Array.FindAll(open, i => i.Result is null);
            if (open.Length == 0) return Status.Ok;
            if (Array.TrueForAll(open, i => i.IsUnwritten)) return await FinishUnwrittenAsync(view, call, open);
        }
    }

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

    private async ValueTask<Status> FinishUnwrittenAsync(EpochView view, ReadCall call, ReadItem[] unwritten)
    {
        if (call.Mode == ReadMode.CloseHoles)
        {
            var closed = await closer.CloseAsync(
                view, [.. unwritten.Select(i => i.Position).Distinct()], true, call.CancellationToken);
            if (!closed.IsDone) return closed.Status;
            foreach (var item in unwritten)
            {
                if (closed.Value.TryGetValue(item.Position, out var result)) item.Result = result.At(call.Detail);
            }

            unwritten = Array.FindAll(unwritten, i => i.Result is null);
            if (unwritten.Length == 0) return Status.Ok;
        }

        var confirmed = await confirmer.ConfirmAsync(view, call.CancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        foreach (var item in unwritten) item.Result = new LogReadResult(item.Position, PageState.Unwritten, null);
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

/// <summary>A position that an append returned, or a chain's tail had, is unwritten at every replica.</summary>
public sealed class DataLossException(LogPosition position)
    : CorfuException($"{position} was committed and is unwritten at every replica of its chain.")
{
    public LogPosition Position { get; } = position;
}
