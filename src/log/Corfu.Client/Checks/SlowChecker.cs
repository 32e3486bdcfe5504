namespace Corfu.Client;

/// <summary>The slow check of Tango 2.2, while the sequencer is silent: the tail is the highest of the units' highest
/// addresses, the streams' newest positions are found from there backwards. The caller confirms the epoch, as with any
/// check.</summary>
internal sealed class SlowChecker(
    LogEnds ends, Reader reader, FrozenTails frozen, ProjectionHolder projections, ClientClock clock)
{
    private const int Batch = 512;
    private const int MaxScan = 65536;

    public async ValueTask<Attempt<TailResponse>> TryAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        ClientTelemetry.SlowChecks.Add(1);
        var (extent, sealedBelow) = await ends.AskActiveAsync(view, cancellationToken);
        if (sealedBelow > view.Epoch) return Status.Sealed;
        var tail = new LogPosition(extent.End.Offset, view.Epoch);

        // R10: tokens are granted in order, so everything below a position written in this epoch was granted in it.
        view.Grants.Saw(tail, clock.GetTimestamp());
        var tails = await StreamsAsync(view, streams, tail, extent.TrimMark, cancellationToken);
        if (!tails.IsDone) return tails.Status;
        if (projections.Current != view) return Status.Sealed;
        return new TailResponse(Status.Ok, view.Epoch, tail, tails.Value, view.GraceMilliseconds, []);
    }

    /// <summary>Pages tell their streams down to the epoch's start or the trim mark; below, the units do. A page that
    /// is damaged, or trimmed without a tombstone, names no streams, so the units are asked about it too. Otherwise a
    /// stream with no other entry left would look empty (R22).</summary>
    private async ValueTask<Attempt<ImmutableArray<StreamTail>>> StreamsAsync(EpochView view,
        ImmutableArray<StreamId> streams, LogPosition tail, LogPosition mark, CancellationToken cancellationToken)
    {
        var found = new Dictionary<StreamId, StreamTail>();
        var start = view.Projection.Start;
        var lowest = new LogPosition(Math.Min(Math.Max(start.Offset, mark.Offset), tail.Offset), tail.Epoch);
        var untold = lowest;
        var next = tail;
        while (next > lowest && found.Count < streams.Length)
        {
            if (tail - next >= MaxScan)
                throw new TransportException(
                    "The sequencer is silent, and a stream's newest entry is too far back to be found.",
                    outcomeUnknown: false);
            var count = (int)Math.Min(Batch, next - lowest);
            next = new LogPosition(next.Offset - count, tail.Epoch);
            var first = next;

            // Holes are closed: what is passed over here must never become an entry.
            var pages = await reader.ReadManyAsync([.. Enumerable.Range(0, count).Select(i => first + i)],
                ReadDetail.Headers, ReadMode.CloseHoles, cancellationToken);
            foreach (var page in pages.Reverse())
            {
                AddTails(page, streams, found);
                var tellsNothing = page is { Entry: null, State: PageState.Trimmed or PageState.Corrupt };
                if (tellsNothing && page.Position >= untold) untold = page.Position.Next;
            }
        }

        if (Planted.Is("slow-check-forgets-the-trimmed")) untold = LogPosition.Min(start, untold);
        var older = untold > lowest ? streams : streams.RemoveAll(found.ContainsKey);
        if (older.IsEmpty) return streams.Select(s => found[s]).ToImmutableArray();
        var gathered = await frozen.GatherAsync(view, older, untold, cancellationToken);
        if (!gathered.IsDone) return gathered.Status;
        if (untold > start)
        {
            // A unit keeps a stream's newest positions only. The positions asked for are among them unless entries at
            // or above this tail have displaced them.
            var (now, sealedBelow) = await ends.AskActiveAsync(view, cancellationToken);
            if (sealedBelow > view.Epoch) return Status.Sealed;
            if (now.End > tail) return Status.Unready;
        }

        foreach (var stream in gathered.Value)
        {
            var known = found.TryGetValue(stream.Stream, out var newer) ? newer.Positions : [];
            found[stream.Stream] = new StreamTail(stream.Stream, FrozenTails.Newest([.. known, .. stream.Positions]));
        }

        return streams.Select(s => found[s]).ToImmutableArray();
    }

    private static void AddTails(
        LogReadResult page, ImmutableArray<StreamId> streams, Dictionary<StreamId, StreamTail> found)
    {
        foreach (var (stream, backpointers) in page.Entry?.Streams ?? [])
        {
            if (streams.Contains(stream))
                found.TryAdd(stream,
                    new StreamTail(stream, [page.Position, .. backpointers.Take(StreamHeader.MaxBackpointers - 1)]));
        }
    }
}
