namespace Corfu.Agent;

/// <summary>Tells joining replicas which streams the positions below their trim mark belong to, as no page does any
/// more. Otherwise a stream whose entries are all trimmed would look empty once the replicas that have seen them are
/// gone. Its readers would not get Trimmed (R15, R22).</summary>
internal static class StreamTailCopier
{
    /// <summary>Invariant: a full replica knows the newest positions of every stream in its chains' ranges, trimmed or
    /// not. The tails are therefore copied last, when every position of the range is decided on the joining replicas. A
    /// mark that rises after that covers pages that they have seen.</summary>
    /// <returns>Ok, or the status because of which it has to be tried again.</returns>
    public static async ValueTask<Status> CopyAsync(Attempt attempt, LogPosition from, LogPosition until)
    {
        if (Planted.Is("rebuilt-without-stream-tails")) return Status.Ok;
        var all = attempt.ChainsOf(from, until);
        var byTarget =
            from chain in all
            from replica in chain.Replicas
            where replica.Joining
            group chain by replica.Unit;
        foreach (var chains in byTarget)
        {
            var info = await attempt.CallAsync(chains.Key, new UnitInfoRequest(attempt.Epoch));
            if (!info.IsOk) return info.Status;
            var below = LogPosition.Min(info.TrimMark, until);
            if (below == LogPosition.Zero) continue;
            var listed = new Dictionary<NodeId, bool>();
            foreach (var chain in chains)
            {
                var status = await CopyChainAsync(attempt, chain, chains.Key, below, listed);
                if (status != Status.Ok) return status;
            }
        }

        return Status.Ok;
    }

    /// <summary>Only the head certainly holds every committed or completable entry. The replicas behind it have what
    /// its damaged headers hide.</summary>
    private static async ValueTask<Status> CopyChainAsync(Attempt attempt, Chain chain, NodeId target,
        LogPosition below, Dictionary<NodeId, bool> listed)
    {
        foreach (var source in chain.Replicas.Take(chain.FullCount).Select(r => r.Unit))
        {
            if (!listed.TryGetValue(source, out var complete))
            {
                (var status, complete) = await CopyListAsync(attempt, source, target, below);
                if (status != Status.Ok) return status;
                listed.Add(source, complete);
            }

            if (complete) break;
        }

        return Status.Ok;
    }

    private static async ValueTask<(Status Status, bool Complete)> CopyListAsync(Attempt attempt, NodeId source,
        NodeId target, LogPosition below)
    {
        var at = default(StreamListCursor);
        var complete = true;
        while (true)
        {
            var list = await attempt.CallAsync(source, new ListStreamTailsRequest(attempt.Epoch, below, at));
            if (!list.IsOk) return (list.Status, false);
            complete &= list.Complete;
            if (!list.Tails.IsEmpty)
            {
                var imported = await attempt.CallAsync(target, new ImportStreamTailsRequest(attempt.Epoch, list.Tails));
                if (!imported.IsOk) return (imported.Status, false);
            }

            if (list.IsLast) return (Status.Ok, complete);
            at = list.Next;
        }
    }
}
