using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Closes holes (CORFU 2.3, 2.4; R10). The head arbitrates: what it holds is completed down the chain at once; where it holds nothing,
/// the writer gets its time, then junk goes to the head first. One wait serves all holes of a call.
/// </summary>
internal sealed class HoleCloser(ClientCore core, ChainWorker chains, HoleWait wait)
{
    private const int FillsInFlight = 64;

    /// <summary>
    /// Closes what is granted. Positions that are not granted in this epoch stay out of the answer: they are no holes but the end of the log.
    /// </summary>
    public async ValueTask<Attempt<Dictionary<LogPosition, LogReadResult>>> CloseAsync(
        EpochView view, IReadOnlyList<LogPosition> holes, bool patient, CancellationToken cancellationToken)
    {
        var closed = new Dictionary<LogPosition, LogReadResult>();
        var open = new List<LogPosition>();
        var status = await CollectGrantedAsync(view, holes, open, cancellationToken);
        while (status == Status.Ok)
        {
            status = await TakeFromHeadsAsync(view, open, closed, cancellationToken);
            if (status != Status.Ok) break;
            if (open.Count == 0) return closed;
#if PLANTED
            if (Planted.Is("fill-at-once")) patient = false;
#endif
            if (patient && Remaining(view, open) is { Ticks: > 0 } left)
            {
                var step = TimeSpan.FromTicks(Math.Max(wait.Of(view).Ticks / 4, TimeSpan.TicksPerMillisecond));
                await core.DelayAsync(left < step ? left : step, core.Projections.ChangedAfter(view.Epoch), cancellationToken);
                if (core.View != view) return Status.Sealed;
                continue;
            }

            // What belongs there is decided in the cluster that this one mirrors: its copier comes along.
            status = view.Projection.IsMirror ? Status.Unready : await FillAsync(view, open, closed, cancellationToken);
        }

        return status;
    }

    // R10: granted means below the epoch's start, where nobody can write any more, or below a tail answered in this epoch. The tail
    // query also brings the grace that slow writers asked for.
    private async ValueTask<Status> CollectGrantedAsync(
        EpochView view, IReadOnlyList<LogPosition> holes, List<LogPosition> granted, CancellationToken cancellationToken)
    {
        var start = view.Projection.Start;
        if (holes.Any(p => p >= start))
        {
            try
            {
                var tail = await core.CallSequencerAsync(view, new TailRequest(view.Epoch, []), cancellationToken);
                if (tail.IsOk) view.Saw(tail, core.Time.GetTimestamp());
                else if (tail.Status == Status.Sealed) return tail.Status;
            }
            catch (TransportException) when (holes.All(p => p < start || view.Grants.TryFirstSeen(p, out _)))
            {
                // What is known is enough.
            }
        }

        foreach (var position in holes)
        {
#if PLANTED
            if (Planted.Is("fill-ungranted")) granted.Add(position);
            else
#endif
            if (position < start || view.Grants.TryFirstSeen(position, out _)) granted.Add(position);
        }

        return Status.Ok;
    }

    private TimeSpan Remaining(EpochView view, List<LogPosition> open)
    {
        var youngest = long.MinValue;
        foreach (var position in open)
        {
            if (position >= view.Projection.Start && view.Grants.TryFirstSeen(position, out var seen)) youngest = Math.Max(youngest, seen);
        }

        return youngest == long.MinValue ? TimeSpan.Zero : wait.Of(view) - core.Time.GetElapsedTime(youngest);
    }

    private async ValueTask<Status> TakeFromHeadsAsync(
        EpochView view, List<LogPosition> open, Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
    {
        foreach (var group in open.GroupBy(p => ChainOf(view, p).Head).ToList())
        {
            var left = group.ToImmutableArray();
            while (left.Length > 0)
            {
                var asked = left.Length > MessageLimits.MaxItems ? left[..MessageLimits.MaxItems] : left;
                var response = await core.CallUnitAsync(view, group.Key, new ReadRequest(view.Epoch, asked, ReadDetail.Full), cancellationToken);
                if (!response.IsOk) return response.Status;
                foreach (var page in response.Pages)
                {
                    var status = await TakeAsync(view, page, open, closed, cancellationToken);
                    if (status != Status.Ok) return status;
                }

                left = left[response.Pages.Length..];
            }
        }

        return Status.Ok;
    }

    private async ValueTask<Status> TakeAsync(
        EpochView view, PageResult page, List<LogPosition> open, Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
    {
        if (page.State == PageState.Unwritten) return Status.Ok;
        var chain = ChainOf(view, page.Position);
        var holder = 0;
        var result = PageDecoder.Decode(page, ReadDetail.Full);
        if (result.State == PageState.Corrupt)
        {
            // Written, so never filled: the same value, if it came further than the head, is good there.
            var found = await chains.FindAsync(view, chain, page.Position, cancellationToken);
            if (!found.IsDone) return found.Status;
            (page, holder) = found.Value;
            if (page.State == PageState.Unwritten) return Status.Ok;
            result = PageDecoder.Decode(page, ReadDetail.Full);
        }

        if (result.State == PageState.Trimmed)
        {
            var status = await chains.BringTrimAsync(view, chain, page, cancellationToken);
            if (status != Status.Ok) return status;
        }
        else if (result.State is PageState.Data or PageState.Junk)
        {
            var status = await chains.CompleteAsync(view, chain, holder, page.Bytes, cancellationToken);
            if (status == Status.Trimmed) result = new LogReadResult(page.Position, PageState.Trimmed, null);
            else if (status != Status.Ok) return status;
        }

        closed[page.Position] = result;
        open.Remove(page.Position);
        return Status.Ok;
    }

    private async ValueTask<Status> FillAsync(
        EpochView view, List<LogPosition> open, Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
    {
        var headers = await HeadersAsync(view, open, cancellationToken);
        foreach (var group in open.ToArray().Chunk(FillsInFlight))
        {
            var fills = new Task<(LogEntry Junk, Status Status)>[group.Length];
            for (var i = 0; i < group.Length; i++) fills[i] = FillOneAsync(view, group[i], headers, cancellationToken);
            foreach (var (junk, status) in await Task.WhenAll(fills))
            {
                // A value or a trim that came in between is taken from the head in the next round.
                if (status is Status.AlreadyWritten or Status.Trimmed) continue;
                if (status != Status.Ok) return status;
                closed[junk.Position] = new LogReadResult(junk.Position, PageState.Junk, junk);
                open.Remove(junk.Position);
            }
        }

        return Status.Ok;
    }

    private async Task<(LogEntry Junk, Status Status)> FillOneAsync(
        EpochView view, LogPosition position, Dictionary<LogPosition, ImmutableArray<StreamHeader>> headers, CancellationToken cancellationToken)
    {
        var at = new LogPosition(position.Offset, view.Epoch);
        var streams = headers.TryGetValue(position, out var known) ? known : [];
        var junk = new LogEntry(at, core.NextOrigin(), EntryKind.Junk, core.Time.GetUtcNow(), streams, default);
        return (junk, await chains.FillAsync(view, ChainOf(view, position), junk, cancellationToken));
    }

    // R8: an optimisation only, and only from the incarnation and epoch that granted the position.
    private async ValueTask<Dictionary<LogPosition, ImmutableArray<StreamHeader>>> HeadersAsync(
        EpochView view, List<LogPosition> open, CancellationToken cancellationToken)
    {
        var headers = new Dictionary<LogPosition, ImmutableArray<StreamHeader>>();
        var granted = open.Where(p => p >= view.Projection.Start).Take(MessageLimits.MaxItems).ToImmutableArray();
        if (granted.IsEmpty) return headers;
        try
        {
            var response = await core.CallSequencerAsync(view, new GrantsRequest(view.Epoch, granted), cancellationToken);
            foreach (var grant in response.Grants)
                headers[grant.Position] = [.. grant.Previous.Select(t => new StreamHeader(t.Stream, t.Positions))];
        }
        catch (TransportException)
        {
            // Bare junk then.
        }

        return headers;
    }

    private static Chain ChainOf(EpochView view, LogPosition position) =>
        view.Projection.TryChainOf(position, out var chain) ? chain : throw new CorfuException($"{position} lies below the first segment.");
}
