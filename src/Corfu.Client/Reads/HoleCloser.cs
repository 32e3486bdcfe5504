using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// Closes holes (CORFU 2.3, 2.4; R10). The head arbitrates: what it holds is completed down the chain at once; where it
/// holds nothing, the writer gets its time, then junk goes to the head first. One wait serves all holes of a call.
/// </summary>
internal sealed class HoleCloser(
    UnitCalls units, SequencerCalls sequencer, ChainReplication chains, EntryOrigins origins,
    ProjectionHolder projections, ClientClock clock,
    CorfuClientOptions options)
{
    private const int FillsInFlight = 64;

    /// <summary>
    /// Closes what is granted. Positions that are not granted in this epoch stay out of the answer: they are no holes
    /// but the end of the log.
    /// </summary>
    public async ValueTask<Attempt<Dictionary<LogPosition, LogReadResult>>> CloseAsync(
        EpochView view, IReadOnlyList<LogPosition> holes, bool patient, CancellationToken cancellationToken)
    {
        var began = clock.GetTimestamp();
        ClientTelemetry.HolesMet.Add(holes.Count);
        var closed = new Dictionary<LogPosition, LogReadResult>();
        List<LogPosition> open = [.. holes];
        // Only their heads hold them, damaged: never filled, but the value may be on its way to the other replicas.
        List<LogPosition> damaged = [];

        // At the same time: what a head holds is completed whatever the sequencer says, for it was granted.
        var learning = LearnTailAsync(view, open.Count == holes.Count ? holes : open.ToArray(), cancellationToken);
        var status = await TakeFromHeadsAsync(view, open, damaged, closed, cancellationToken);
        if (status == Status.Ok && open.Count > 0)
        {
            status = await learning;
            open.RemoveAll(p => !IsGranted(view, p));
        }
        else
        {
            learning.Abandon();
        }

        // Asked for while the writer has its time.
        Task<Dictionary<LogPosition, ImmutableArray<StreamHeader>>>? headers = null;
        for (var look = false; status == Status.Ok;)
        {
            if (look) status = await TakeFromHeadsAsync(view, open, damaged, closed, cancellationToken);
            if (status != Status.Ok) break;
            look = true;
            if (open.Count == 0 && damaged.Count > 0)
            {
                var rest = options.HoleWait - clock.GetElapsedTime(began);
                if (rest > TimeSpan.Zero)
                {
                    await PauseAsync(view, rest, cancellationToken);
                    if (projections.Current != view) return Status.Sealed;
                    continue;
                }

                foreach (var position in damaged)
                    closed[position] = new LogReadResult(position, PageState.Corrupt, null);
            }

            if (open.Count == 0)
            {
                ClientTelemetry.HoleTime.Record(clock.GetElapsedTime(began).TotalSeconds);
                return closed;
            }

#if PLANTED
            if (Planted.Is("fill-at-once")) patient = false;
#endif
            if (patient && Remaining(view, open) is { Ticks: > 0 } left)
            {
                headers ??= HeadersAsync(view, open, cancellationToken);
                await PauseAsync(view, left, cancellationToken);
                if (projections.Current != view) return Status.Sealed;

                // When the time is up, the fill itself tells what the head holds.
                look = Remaining(view, open) > TimeSpan.Zero;
                continue;
            }

            // What belongs there is decided in the cluster that this one mirrors: its copier comes along.
            if (view.Projection.IsMirror) return Status.Unready;
            status = await FillAsync(
                view, open, await (headers ?? HeadersAsync(view, open, cancellationToken)), closed, cancellationToken);
        }

        return status;
    }

    /// <summary>R10: the wait, or the grace that a slow writer asked for if that is longer.</summary>
    private TimeSpan WaitOf(EpochView view)
    {
        var grace = TimeSpan.FromMilliseconds(view.GraceMilliseconds);
        return grace > options.HoleWait ? grace : options.HoleWait;
    }

    /// <summary>A part of the wait, so that a value that comes meanwhile is noticed. Ends with the epoch.</summary>
    private async ValueTask PauseAsync(EpochView view, TimeSpan left, CancellationToken cancellationToken)
    {
        var step = WaitOf(view) / 4;
        await clock.DelayAsync(
            left < step * 1.5 ? left : step, projections.ChangedAfter(view.Epoch), cancellationToken);
    }

    /// <summary>
    /// The tail also brings the grace that slow writers asked for. A silent sequencer is waited for only where its word
    /// is needed.
    /// </summary>
    private async Task<Status> LearnTailAsync(
        EpochView view, IReadOnlyList<LogPosition> holes, CancellationToken cancellationToken)
    {
        if (holes.All(p => p < view.Projection.Start)) return Status.Ok;
        var asking = sequencer.CallAsync(view, new TailRequest(view.Epoch, []), cancellationToken).AsTask();
        try
        {
            if (AreKnown(view, holes) && !await clock.InTimeAsync(asking, options.HoleWait))
            {
                asking.Abandon();
                return Status.Ok;
            }

            var tail = await asking;
            if (tail.IsOk) view.Saw(tail, clock.GetTimestamp());
            return tail.Status == Status.Sealed ? Status.Sealed : Status.Ok;
        }
        catch (TransportException) when (AreKnown(view, holes))
        {
            // What is known is enough.
            return Status.Ok;
        }
    }

    private static bool AreKnown(EpochView view, IReadOnlyList<LogPosition> holes) =>
        holes.All(p => p < view.Projection.Start || view.Grants.TryFirstSeen(p, out _));

    // R10: granted means below the epoch's start, where nobody can write any more, or below a tail answered in this
    // epoch.
    private static bool IsGranted(EpochView view, LogPosition position)
    {
#if PLANTED
        if (Planted.Is("fill-ungranted")) return true;
#endif
        return position < view.Projection.Start || view.Grants.TryFirstSeen(position, out _);
    }

    private TimeSpan Remaining(EpochView view, List<LogPosition> open)
    {
        var youngest = long.MinValue;
        foreach (var position in open)
        {
            if (position >= view.Projection.Start && view.Grants.TryFirstSeen(position, out var seen))
                youngest = Math.Max(youngest, seen);
        }

        return youngest == long.MinValue ? TimeSpan.Zero : WaitOf(view) - clock.GetElapsedTime(youngest);
    }

    private async ValueTask<Status> TakeFromHeadsAsync(
        EpochView view, List<LogPosition> open, List<LogPosition> damaged, Dictionary<LogPosition,
        LogReadResult> closed,
        CancellationToken cancellationToken)
    {
        open.AddRange(damaged);
        damaged.Clear();
        foreach (var group in open.GroupBy(p => view.Projection.ChainOf(p).Head).ToList())
        {
            var left = group.ToImmutableArray();
            while (left.Length > 0)
            {
                var asked = left.Length > MessageLimits.MaxItems ? left[..MessageLimits.MaxItems] : left;
                var response = await units.CallAsync(
                    view, group.Key, new ReadRequest(view.Epoch, asked, ReadDetail.Full), cancellationToken);
                if (!response.IsOk) return response.Status;
                foreach (var pages in response.Pages.Where(p => p.State != PageState.Unwritten).Chunk(FillsInFlight))
                {
                    foreach (var taken in await Task.WhenAll(pages.Select(p => TakeAsync(view, p, cancellationToken))))
                    {
                        if (!taken.IsDone) return taken.Status;
                        if (taken.Value.State == PageState.Unwritten) continue;
                        open.Remove(taken.Value.Position);
                        if (taken.Value.State == PageState.Corrupt)
                        {
                            damaged.Add(taken.Value.Position);
                            continue;
                        }

                        closed[taken.Value.Position] = taken.Value;
                        ClientTelemetry.HolesTaken.Add(1);
                    }
                }

                left = left[response.Pages.Length..];
            }
        }

        return Status.Ok;
    }

    /// <summary>
    /// What a head holds, once the whole chain has it; Unwritten if the head holds nothing after all.
    /// </summary>
    private async Task<Attempt<LogReadResult>> TakeAsync(
        EpochView view, PageResult page, CancellationToken cancellationToken)
    {
        var chain = view.Projection.ChainOf(page.Position);
        var holder = 0;
        var result = PageDecoder.Decode(page, ReadDetail.Full);
        if (result.State == PageState.Corrupt)
        {
            // Written, so never filled: the same value, if it came further than the head, is good there.
            var found = await chains.FindAsync(view, chain, page.Position, cancellationToken);
            if (!found.IsDone) return found.Status;
            (page, holder) = found.Value;
            result = PageDecoder.Decode(page, ReadDetail.Full);
        }

        if (result.State == PageState.Trimmed)
        {
            var status = await chains.PropagateTrimAsync(view, chain, page, cancellationToken);
            if (status != Status.Ok) return status;
        }
        else if (result.State is PageState.Data or PageState.Junk)
        {
            var status = await chains.CompleteAsync(view, chain, holder, page.Bytes, cancellationToken);
            if (status == Status.Trimmed) result = new LogReadResult(page.Position, PageState.Trimmed, null);
            else if (status != Status.Ok) return status;
        }

        return result;
    }

    private async ValueTask<Status> FillAsync(
        EpochView view, List<LogPosition> open, Dictionary<LogPosition, ImmutableArray<StreamHeader>> headers,
        Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
    {
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
        EpochView view, LogPosition position, Dictionary<LogPosition, ImmutableArray<StreamHeader>> headers,
        CancellationToken cancellationToken)
    {
        var at = new LogPosition(position.Offset, view.Epoch);
        var streams = headers.TryGetValue(position, out var known) ? known : [];
        var junk = new LogEntry(at, origins.Next(), EntryKind.Junk, clock.Time.GetUtcNow(), streams, default);
        var status = await chains.FillAsync(view, view.Projection.ChainOf(position), junk, cancellationToken);
        if (status == Status.Ok && streams.IsEmpty) ClientTelemetry.FilledBare.Add(1);
        return (junk, status);
    }

    // R8: an optimisation only, and only from the incarnation and epoch that granted the position.
    private async Task<Dictionary<LogPosition, ImmutableArray<StreamHeader>>> HeadersAsync(
        EpochView view, List<LogPosition> open, CancellationToken cancellationToken)
    {
        var headers = new Dictionary<LogPosition, ImmutableArray<StreamHeader>>();
        var granted = open.Where(p => p >= view.Projection.Start).Take(MessageLimits.MaxItems).ToImmutableArray();
        if (granted.IsEmpty) return headers;
        try
        {
            var asking = sequencer.CallAsync(view, new GrantsRequest(view.Epoch, granted), cancellationToken).AsTask();
            if (!await clock.InTimeAsync(asking, options.HoleWait))
            {
                asking.Abandon();
                return headers;
            }

            foreach (var grant in (await asking).Grants)
                headers[grant.Position] = [.. grant.Previous.Select(t => new StreamHeader(t.Stream, t.Positions))];
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // Bare junk then; who gave up hears it from the fill.
        }

        return headers;
    }
}
