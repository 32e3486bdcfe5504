using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// The slow check of Tango 2.2, for as long as the sequencer is silent: the tail is the highest of the units' highest
/// addresses, the streams' newest positions are looked for from there backwards. The caller confirms the epoch, as with
/// any check.
/// </summary>
internal sealed class SlowChecker(
    UnitCalls units, Reader reader, FrozenTails frozen, ProjectionHolder projections, ClientClock clock)
{
    private const int Batch = 512;
    private const int MaxScan = 65536;

    public async ValueTask<Attempt<TailResponse>> TryAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        ClientTelemetry.SlowChecks.Add(1);
        var ends = await TailAsync(view, cancellationToken);
        if (!ends.IsDone) return ends.Status;
        var (tail, mark) = ends.Value;

        // R10: tokens are granted in order, so below a position that was written in this epoch everything was granted
        // in it.
        view.Grants.Saw(tail, clock.GetTimestamp());
        var tails = await StreamsAsync(view, streams, tail, mark, cancellationToken);
        if (!tails.IsDone) return tails.Status;
        if (projections.Current != view) return Status.Sealed;
        return new TailResponse(Status.Ok, view.Epoch, tail, tails.Value, view.GraceMilliseconds, []);
    }

    /// <summary>
    /// An acknowledged entry is at every full replica of its chain, so the first one of each active chain to answer is
    /// enough.
    /// </summary>
    private async ValueTask<Attempt<(LogPosition Tail, LogPosition Mark)>> TailAsync(
        EpochView view, CancellationToken cancellationToken)
    {
        var tail = new LogPosition(view.Projection.Start.Offset, view.Epoch);
        var mark = view.Projection.TrimMark;
        var missing = view.Projection.Active.Chains.ToList();
        var asking = missing
            .SelectMany(c => c.Replicas.Take(c.FullCount)).Select(r => r.Unit).Distinct()
            .Select(u => AskAsync(view, u, cancellationToken)).ToList();
        while (missing.Count > 0)
        {
            if (asking.Count == 0)
                throw new TransportException(
                    $"No replica of a chain of {view.Epoch} says how far it has got.", outcomeUnknown: false);
            var first = await Task.WhenAny(asking);
            asking.Remove(first);
            if (await first is not { } info) continue;
            if (info.Info.SealedBelow > view.Epoch) return Status.Sealed;
            if (info.Info.End > tail) tail = new LogPosition(info.Info.End.Offset, view.Epoch);
            mark = LogPosition.Max(mark, info.Info.TrimMark);
            missing.RemoveAll(c => c.Replicas.Take(c.FullCount).Any(r => r.Unit == info.Unit));
        }

        return (tail, mark);
    }

    private async Task<(NodeId Unit, UnitInfoResponse Info)?> AskAsync(
        EpochView view, NodeId unit, CancellationToken cancellationToken)
    {
        try
        {
            var info = await units.CallAsync(view, unit, new UnitInfoRequest(view.Epoch), cancellationToken);
            return info.IsOk ? (unit, info) : null;
        }
        catch (TransportException)
        {
            return null;
        }
    }

    /// <summary>
    /// Pages tell down to the epoch's start or the trim mark; below, the units do. A page that is trimmed without a
    /// tombstone, or damaged, does not tell its streams, so the units are asked about it too: else a stream of which
    /// nothing else is left looks as if it had never had an entry (R22).
    /// </summary>
    private async ValueTask<Attempt<ImmutableArray<StreamTail>>> StreamsAsync(
        EpochView view, ImmutableArray<StreamId> streams, LogPosition tail, LogPosition mark,
        CancellationToken cancellationToken)
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
                    "The sequencer is silent, and a stream's newest entry is too far back to be looked for.",
                    outcomeUnknown: false);
            var count = (int)Math.Min(Batch, next - lowest);
            next = new LogPosition(next.Offset - count, tail.Epoch);
            var first = next;

            // Holes are closed: what is passed over here must never become an entry.
            var pages = await reader.ReadManyAsync(
                [.. Enumerable.Range(0, count).Select(i => first + i)], ReadDetail.Headers, ReadMode.CloseHoles,
                cancellationToken);
            for (var i = count - 1; i >= 0; i--)
            {
                Take(pages[i], streams, found);
                if (
                    pages[i] is { Entry: null, State: PageState.Trimmed or PageState.Corrupt }
                    && pages[i].Position >= untold) untold = pages[i].Position.Next;
            }
        }

#if PLANTED
        if (Planted.Is("slow-check-forgets-the-trimmed")) untold = LogPosition.Min(start, untold);
#endif
        var older = untold > lowest ? streams : streams.RemoveAll(found.ContainsKey);
        if (older.Length > 0)
        {
            var gathered = await frozen.GatherAsync(view, older, untold, cancellationToken);
            if (!gathered.IsDone) return gathered.Status;
            if (untold > start)
            {
                // A unit keeps a stream's newest positions only. Those asked for are among them unless entries at or
                // above this tail have displaced them.
                var now = await TailAsync(view, cancellationToken);
                if (!now.IsDone) return now.Status;
                if (now.Value.Tail > tail) return Status.Unready;
            }

            foreach (var stream in gathered.Value)
            {
                var known = found.TryGetValue(stream.Stream, out var newer) ? newer.Positions : [];
                found[stream.Stream] = new StreamTail(
                    stream.Stream, FrozenTails.Newest([.. known, .. stream.Positions]));
            }
        }

        return streams.Select(s => found[s]).ToImmutableArray();
    }

    private static void Take(
        LogReadResult page, ImmutableArray<StreamId> streams, Dictionary<StreamId, StreamTail> found)
    {
        if (page.Entry is not { } entry) return;
        foreach (var header in entry.Streams)
        {
            if (!found.ContainsKey(header.Stream) && streams.Contains(header.Stream))
                found[header.Stream] = new StreamTail(
                    header.Stream, [page.Position, .. header.Backpointers.Take(StreamHeader.MaxBackpointers - 1)]);
        }
    }
}
