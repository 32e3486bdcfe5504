namespace Corfu.Client;

/// <summary>Stream tails below the epoch's start, where every position is decided: equal for all clients.</summary>
/// <remarks>Only a chain's first full replica certainly holds every committed or completable entry. An entry behind its
/// damaged headers is no source of copies any more, and is in the log only if a full replica behind it has the entry.
/// The lists of the two together, the second one complete, therefore lack nothing. Chains that are wholly trimmed are
/// asked too: a stream whose entries were there must not look like one that never had any (R22).</remarks>
internal sealed class FrozenTails(UnitCalls units)
{
    /// <summary>The newest positions of streams below a position, in the streams' order. The position is the epoch's
    /// start, or above it and at or below every entry of the streams since.</summary>
    public async ValueTask<Attempt<ImmutableArray<StreamTail>>> GatherAsync(
        EpochView view, ImmutableArray<StreamId> streams, LogPosition below, CancellationToken cancellationToken)
    {
        var request = new StreamTailsRequest(view.Epoch, streams, below);
        var newest = new Dictionary<StreamId, List<LogPosition>>();
        foreach (var stream in streams) newest[stream] = [];
        var complete = new Dictionary<NodeId, bool>();
        var heads = ChainsOf(view.Projection).Select(c => c.Head).Distinct().ToList();
        var answers = await Task.WhenAll(
            heads.Select(u => units.CallAsync(view, u, request, cancellationToken).AsTask()));
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk) return answers[i].Status;
            complete.Add(heads[i], Merge(answers[i]));
        }

        var (status, damaged) = await AskUntilCompleteAsync(view, complete, AskAsync);
        if (status != Status.Ok) return status;
        if (damaged is { } head)
            throw new TransportException(
                $"Damaged headers at every replica of a chain, {head} first, may hide entries of a stream.",
                outcomeUnknown: false);
        return streams.Select(s => new StreamTail(s, Newest(newest[s]))).ToImmutableArray();

        async ValueTask<(Status Status, bool IsComplete)> AskAsync(NodeId unit)
        {
            var answer = await units.CallAsync(view, unit, request, cancellationToken);
            return (answer.Status, answer.IsOk && Merge(answer));
        }

        bool Merge(StreamTailsResponse answer)
        {
            foreach (var tail in answer.Tails)
            {
                if (newest.TryGetValue(tail.Stream, out var positions)) positions.AddRange(tail.Positions);
            }

            return answer.Complete;
        }
    }

    /// <summary>All streams below a trimmed position, ascending, with their newest positions there as far as they are
    /// known. A copy of a log needs them: no page tells them any more.</summary>
    public async ValueTask<Attempt<ImmutableArray<StreamTail>>> ListAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        var known = new SortedDictionary<ulong, List<LogPosition>>();
        var (status, _) = await AskUntilCompleteAsync(view, [], AskAsync);
        if (status != Status.Ok) return status;
        return known.Select(s => new StreamTail(new StreamId(s.Key), Newest(s.Value))).ToImmutableArray();

        async ValueTask<(Status Status, bool IsComplete)> AskAsync(NodeId unit)
        {
            var cursor = default(StreamListCursor);
            for (var isComplete = true; ;)
            {
                var list = await units.CallAsync(
                    view, unit, new ListStreamTailsRequest(view.Epoch, below, cursor), cancellationToken);
                if (!list.IsOk) return (list.Status, false);
                isComplete &= list.Complete;
                foreach (var tail in list.Tails)
                {
                    var positions = tail.Positions.RemoveAll(p => p >= below);
                    if (positions.IsEmpty) continue;
                    if (!known.TryGetValue(tail.Stream.Value, out var all)) known.Add(tail.Stream.Value, all = []);
                    all.AddRange(positions);
                }

                if (list.IsLast) return (Status.Ok, isComplete);
                cursor = list.Next;
            }
        }
    }

    /// <summary>Asks full replicas of every chain, in order, until one has a complete list; each unit once.</summary>
    /// <param name="complete">The units that have been asked, and whether their lists are complete.</param>
    /// <returns>Damaged: the head of a chain of which no list is complete.</returns>
    private static async ValueTask<(Status Status, NodeId? Damaged)> AskUntilCompleteAsync(
        EpochView view, Dictionary<NodeId, bool> complete, Func<NodeId, ValueTask<(Status, bool)>> ask)
    {
        NodeId? damaged = null;
        foreach (var chain in ChainsOf(view.Projection))
        {
            var isComplete = false;
            foreach (var unit in chain.FullUnits)
            {
                if (!complete.TryGetValue(unit, out isComplete))
                {
                    (var status, isComplete) = await ask(unit);
                    if (status != Status.Ok) return (status, null);
                    complete.Add(unit, isComplete);
                }

                if (isComplete) break;
            }

            if (!isComplete) damaged ??= chain.Head;
        }

        return (Status.Ok, damaged);
    }

    private static IEnumerable<Chain> ChainsOf(Projection projection)
    {
        if (Planted.Is("tails-from-one-chain")) return projection.Segments.Select(s => s.Chains[0]);
        return projection.Segments.SelectMany(s => s.Chains);
    }

    public static ImmutableArray<LogPosition> Newest(IEnumerable<LogPosition> positions) =>
        [.. positions.OrderDescending().Distinct().Take(StreamHeader.MaxBackpointers)];
}
