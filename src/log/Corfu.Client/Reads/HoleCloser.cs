namespace Corfu.Client;

/// <summary>Closes holes (CORFU 2.3, 2.4; R10). The head arbitrates: what it holds is completed down the chain at once;
/// where it holds nothing, the writer gets its time, then junk goes to the head first. A single wait serves all holes
/// of a call.</summary>
internal sealed class HoleCloser(UnitCalls units, SequencerClient sequencer, ChainReplication chains,
    EntryOrigins origins, ProjectionHolder projections, ClientClock clock, CorfuClientOptions options)
{
    private const int FillsInFlight = 64;

    /// <summary>Closes what is granted in this epoch; other positions are no holes but the end of the log.</summary>
    /// <remarks>
    /// 1. Complete what the heads hold. At the same time learn the tail: what lies above it is no hole.
    /// 2. Wait until every writer has had its time, and complete what arrives meanwhile.
    /// 3. Fill the rest; a value that comes in between is completed.
    /// 4. A value that only its head holds, damaged, is never filled. It may be on its way to the other replicas; after
    /// the wait the position is Corrupt.
    /// </remarks>
    public async ValueTask<Attempt<Dictionary<LogPosition, LogReadResult>>> CloseAsync(
        EpochView view, ImmutableArray<LogPosition> holes, bool patient, CancellationToken cancellationToken)
    {
        if (Planted.Is("fill-at-once")) patient = false;
        var began = clock.GetTimestamp();
        ClientTelemetry.HolesMet.Add(holes.Length);
        var closed = new Dictionary<LogPosition, LogReadResult>();
        List<LogPosition> open = [.. holes], damaged = [];

        // 1.
        var learning = LearnTailAsync(view, holes, cancellationToken);
        var status = await CompleteAsync(view, open, damaged, closed, cancellationToken);
        if (status == Status.Ok && open.Count > 0)
        {
            status = await learning;
            open.RemoveAll(p => !IsGranted(view, p));
        }
        else
        {
            learning.Abandon();
        }

        // Asked for while the writers have their time.
        Task<Dictionary<LogPosition, ImmutableArray<StreamHeader>>>? headers = null;
        while (status == Status.Ok)
        {
            var rest = options.HoleWait - clock.GetElapsedTime(began);
            if (open.Count == 0 && (damaged.Count == 0 || rest <= TimeSpan.Zero))
            {
                // 4.
                foreach (var position in damaged)
                    closed[position] = new LogReadResult(position, PageState.Corrupt, null);
                ClientTelemetry.HoleTime.Record(clock.GetElapsedTime(began).TotalSeconds);
                return closed;
            }

            if (open.Count > 0) rest = patient ? Remaining(view, open) : TimeSpan.Zero;
            if (rest > TimeSpan.Zero)
            {
                // 2. When the time is up, the fill itself tells what the head holds.
                if (open.Count > 0) headers ??= HeadersAsync(view, open, cancellationToken);
                await PauseAsync(view, rest, cancellationToken);
                if (projections.Current != view) return Status.Sealed;
                if (open.Count > 0 && Remaining(view, open) <= TimeSpan.Zero) continue;
            }
            else
            {
                // 3. In a mirror the source decides what belongs there: its copier comes along.
                if (view.Projection.IsMirror) return Status.Unready;
                headers ??= HeadersAsync(view, open, cancellationToken);
                status = await FillAsync(view, open, await headers, closed, cancellationToken);
                if (status != Status.Ok) break;
            }

            status = await CompleteAsync(view, open, damaged, closed, cancellationToken);
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

    /// <summary>The tail also brings the grace that slow writers asked for. A silent sequencer is waited for only where
    /// a hole is not known to be granted.</summary>
    private async Task<Status> LearnTailAsync(
        EpochView view, ImmutableArray<LogPosition> holes, CancellationToken cancellationToken)
    {
        if (holes.All(p => p < view.Projection.Start)) return Status.Ok;
        var asking = sequencer.ReadTailAsync(view, [], cancellationToken).AsTask();
        try
        {
            if (AreKnown(view, holes) && !await clock.InTimeAsync(asking, options.HoleWait))
            {
                asking.Abandon();
                return Status.Ok;
            }

            var tail = await asking;
            return tail.Status == Status.Sealed ? Status.Sealed : Status.Ok;
        }
        catch (TransportException) when (AreKnown(view, holes))
        {
            // Every hole is known to be granted: the sequencer's answer is not needed.
            return Status.Ok;
        }
    }

    private static bool AreKnown(EpochView view, ImmutableArray<LogPosition> holes) =>
        holes.All(p => IsGranted(view, p));

    // R10: granted means below the epoch's start, where no client can write any more, or below a tail answered in this
    // epoch.
    private static bool IsGranted(EpochView view, LogPosition position)
    {
        if (Planted.Is("fill-ungranted")) return true;
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

    /// <summary>Closes the open positions whose heads hold a value; what is damaged there moves to that list.</summary>
    private async ValueTask<Status> CompleteAsync(EpochView view, List<LogPosition> open, List<LogPosition> damaged,
        Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
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
                    var completed = await Task.WhenAll(pages.Select(p => CompleteAsync(view, p, cancellationToken)));
                    foreach (var attempt in completed)
                    {
                        if (!attempt.IsDone) return attempt.Status;
                        var result = attempt.Value;
                        if (result.State == PageState.Unwritten) continue;
                        open.Remove(result.Position);
                        if (result.State == PageState.Corrupt)
                        {
                            damaged.Add(result.Position);
                            continue;
                        }

                        closed[result.Position] = result;
                        ClientTelemetry.HolesTaken.Add(1);
                    }
                }

                left = left[response.Pages.Length..];
            }
        }

        return Status.Ok;
    }

    /// <summary>The value that a head holds, once the whole chain has it; Unwritten if the head holds none after
    /// all.</summary>
    private async Task<Attempt<LogReadResult>> CompleteAsync(
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

        var status = result.State switch
        {
            PageState.Trimmed => await chains.PropagateTrimAsync(view, chain, page, cancellationToken),
            PageState.Data or PageState.Junk =>
                await chains.CompleteAsync(view, chain, holder, page.Bytes, cancellationToken),
            _ => Status.Ok,
        };
        if (status == Status.Trimmed) return new LogReadResult(page.Position, PageState.Trimmed, null);
        return status == Status.Ok ? result : status;
    }

    private async ValueTask<Status> FillAsync(
        EpochView view, List<LogPosition> open, Dictionary<LogPosition, ImmutableArray<StreamHeader>> headers,
        Dictionary<LogPosition, LogReadResult> closed, CancellationToken cancellationToken)
    {
        foreach (var group in open.ToArray().Chunk(FillsInFlight))
        {
            var fills = group.Select(p => FillOneAsync(view, p, headers, cancellationToken));
            foreach (var (junk, status) in await Task.WhenAll(fills))
            {
                // A value or a trim that came in between is completed in the next round.
                if (status is Status.AlreadyWritten or Status.Trimmed) continue;
                if (status != Status.Ok) return status;
                closed[junk.Position] = new LogReadResult(junk.Position, PageState.Junk, junk);
                open.Remove(junk.Position);
            }
        }

        return Status.Ok;
    }

    private async Task<(LogEntry Junk, Status Status)> FillOneAsync(EpochView view, LogPosition position,
        Dictionary<LogPosition, ImmutableArray<StreamHeader>> headers, CancellationToken cancellationToken)
    {
        var streams = headers.TryGetValue(position, out var known) ? known : [];
        var junk = origins.NewJunk(view, position, streams);
        var status = await chains.FillAsync(view, view.Projection.ChainOf(position), junk, cancellationToken);
        if (status == Status.Ok && streams.IsEmpty) ClientTelemetry.FilledBare.Add(1);
        return (junk, status);
    }

    // R8: an optimisation only, and only from the incarnation and epoch that granted the position.
    private async Task<Dictionary<LogPosition, ImmutableArray<StreamHeader>>> HeadersAsync(
        EpochView view, List<LogPosition> open, CancellationToken cancellationToken)
    {
        var headers = new Dictionary<LogPosition, ImmutableArray<StreamHeader>>();
        var left = open.Where(p => p >= view.Projection.Start).Take(MessageLimits.MaxItems).ToImmutableArray();
        try
        {
            while (left.Length > 0)
            {
                var asking = sequencer.ReadGrantsAsync(view, left, cancellationToken).AsTask();
                if (!await clock.InTimeAsync(asking, options.HoleWait))
                {
                    asking.Abandon();
                    return headers;
                }

                var answer = await asking;
                if (!answer.IsOk) return headers;
                foreach (var grant in answer.Grants)
                    headers[grant.Position] = [.. grant.Previous.Select(t => new StreamHeader(t.Stream, t.Positions))];
                left = left[answer.Examined..];
            }
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // Bare junk then; a cancelled caller hears it from the fill.
        }

        return headers;
    }
}
