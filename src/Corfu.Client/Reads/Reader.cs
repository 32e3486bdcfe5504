using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Reads at the tails of the chains, one request per unit for all its positions (CORFU 2.4; R11: what a chain's tail holds is
/// committed). Holes go to the closer; an answer of unwritten is given only under a confirmed epoch.
/// </summary>
internal sealed class Reader(ClientCore core, ChainWorker chains, HoleCloser closer, EpochConfirmer confirmer)
{
    private sealed class Call(ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        public ImmutableArray<LogPosition> Positions { get; } = positions;

        public ReadDetail Detail { get; } = detail;

        public ReadMode Mode { get; } = mode;

        public CancellationToken CancellationToken { get; } = cancellationToken;

        public LogReadResult[] Results { get; } = new LogReadResult[positions.Length];

        /// <summary>Indexes without a final result.</summary>
        public List<int> Open { get; set; } = [];
    }

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        if (positions.IsEmpty) return [];
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.read");
        activity?.SetTag("corfu.positions", positions.Length);
        var began = core.Time.GetTimestamp();
        var call = new Call(positions, detail, mode, cancellationToken);
        for (var i = 0; i < positions.Length; i++) call.Open.Add(i);
        await core.RetryAsync("A read", view => TryAsync(view, call), cancellationToken);
        ClientTelemetry.ReadPositions.Add(positions.Length);
        ClientTelemetry.ReadTime.Record(core.Time.GetElapsedTime(began).TotalSeconds);
        return System.Runtime.InteropServices.ImmutableCollectionsMarshal.AsImmutableArray(call.Results);
    }

    /// <summary>One pass over what is open; results that are final stay, whatever becomes of the rest.</summary>
    private async ValueTask<Attempt<bool>> TryAsync(EpochView view, Call call)
    {
        var byUnit = new Dictionary<NodeId, List<int>>();
        foreach (var index in call.Open)
        {
            var position = call.Positions[index];
            if (!view.Projection.TryChainOf(position, out var chain))
            {
                call.Results[index] = new LogReadResult(position, PageState.Trimmed, null);
                continue;
            }

            var unit = chain.Tail;
#if PLANTED
            if (Planted.Is("read-at-head")) unit = chain.Head;
#endif
            if (!byUnit.TryGetValue(unit, out var list)) byUnit[unit] = list = [];
            list.Add(index);
        }

        var reads = new List<Task<UnitRead>>(byUnit.Count);
        foreach (var (tail, indexes) in byUnit) reads.Add(ReadUnitAsync(view, tail, indexes, call));
        var trouble = Status.Ok;
        Exception? silent = null;
        var open = new List<int>();
        var unwritten = new List<int>();
        foreach (var read in await Task.WhenAll(reads))
        {
            open.AddRange(read.Open);
            unwritten.AddRange(read.Unwritten);
            if (trouble is Status.Ok) trouble = read.Status;
            silent ??= read.Silent;
        }

        call.Open = [.. open, .. unwritten];
        call.Open.Sort();
        if (unwritten.Count > 0 && trouble == Status.Ok && silent is null)
        {
            unwritten.Sort();
            trouble = await FinishUnwrittenAsync(view, call, unwritten);
        }

        if (silent is not null) throw silent;
        return trouble == Status.Ok ? true : trouble;
    }

    private async ValueTask<Status> FinishUnwrittenAsync(EpochView view, Call call, List<int> unwritten)
    {
        if (call.Mode == ReadMode.CloseHoles)
        {
            var closed = await closer.CloseAsync(view, [.. unwritten.Select(i => call.Positions[i]).Distinct()], true, call.CancellationToken);
            if (!closed.IsDone) return closed.Status;
            unwritten = unwritten.FindAll(i => !TakeClosed(call, i, closed.Value));
            if (unwritten.Count == 0) return Status.Ok;
        }

        var confirmed = await confirmer.ConfirmAsync(view, call.CancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        foreach (var index in unwritten) call.Results[index] = new LogReadResult(call.Positions[index], PageState.Unwritten, null);
        return Status.Ok;
    }

    private static bool TakeClosed(Call call, int index, Dictionary<LogPosition, LogReadResult> closed)
    {
        if (!closed.TryGetValue(call.Positions[index], out var result)) return false;
        call.Results[index] = call.Detail switch
        {
            ReadDetail.State => result with { Entry = null },
            ReadDetail.Headers when result.Entry is { } entry => result with { Entry = entry with { Payload = default } },
            _ => result,
        };
        call.Open.Remove(index);
        return true;
    }

    private sealed record UnitRead(List<int> Open, List<int> Unwritten, Status Status, Exception? Silent);

    private async Task<UnitRead> ReadUnitAsync(EpochView view, NodeId unit, List<int> indexes, Call call)
    {
        var unwritten = new List<int>();
        var done = 0;
        try
        {
            // An answer ends at the read budget; the rest is asked for again.
            while (done < indexes.Count)
            {
                var wanted = ImmutableArray.CreateBuilder<LogPosition>(Math.Min(indexes.Count - done, MessageLimits.MaxItems));
                for (var i = 0; i < wanted.Capacity; i++) wanted.Add(call.Positions[indexes[done + i]]);
                var request = new ReadRequest(view.Epoch, wanted.MoveToImmutable(), call.Detail);
                var response = await core.CallUnitAsync(view, unit, request, call.CancellationToken);
                if (!response.IsOk) return new UnitRead(indexes[done..], unwritten, response.Status, null);
                foreach (var page in response.Pages)
                {
                    if (page.State == PageState.Unwritten)
                    {
                        unwritten.Add(indexes[done]);
                    }
                    else
                    {
                        var result = await ResultAsync(view, page, call);
                        if (!result.IsDone) return new UnitRead(indexes[done..], unwritten, result.Status, null);
                        call.Results[indexes[done]] = result.Value;
                    }

                    done++;
                }
            }
        }
        catch (TransportException e)
        {
            return new UnitRead(indexes[done..], unwritten, Status.Ok, e);
        }

        return new UnitRead([], unwritten, Status.Ok, null);
    }

    private async ValueTask<Attempt<LogReadResult>> ResultAsync(EpochView view, PageResult page, Call call)
    {
        var result = PageDecoder.Decode(page, call.Detail);
        if (result.State is PageState.Data or PageState.Junk) return result;
        if (!view.Projection.TryChainOf(page.Position, out var chain)) return new LogReadResult(page.Position, PageState.Trimmed, null);
        if (result.State == PageState.Trimmed)
        {
            var status = await chains.BringTrimAsync(view, chain, page, call.CancellationToken);
            return status == Status.Ok ? result : status;
        }

        // Corrupt at the tail: it was written there, so it is committed, and any full replica will do (R11).
        for (var i = 0; i < chain.FullCount - 1; i++)
        {
            var look = await chains.LookAsync(view, chain, i, page.Position, call.Detail, call.CancellationToken);
            if (!look.IsDone) return look.Status;
            var other = PageDecoder.Decode(look.Value, call.Detail);
            if (other.State is PageState.Data or PageState.Junk or PageState.Trimmed) return other;
            if (other.State == PageState.Unwritten)
                ClientLog.DataLoss(core.Logger, page.Position.ToString(), chain.Replicas[i].Unit.ToString(), other.State.ToString());
        }

        return result;
    }
}
