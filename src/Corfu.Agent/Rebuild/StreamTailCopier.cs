using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// Tells joining replicas which streams the positions below their trim mark belong to, as no page does any more. Else a
/// stream whose entries are all trimmed would look, once those who have seen them are gone, as if it had never had any,
/// and nobody would be told Trimmed (R15, R22).
/// </summary>
internal sealed class StreamTailCopier(UnitCaller units)
{
    /// <summary>
    /// Invariant: a full replica knows the newest positions of every stream in its chains' ranges, trimmed or not. So
    /// this comes last, when every position of the range is decided on the joining ones: a mark that rises after that
    /// covers pages that they have seen.
    /// </summary>
    /// <returns>Ok, or why it has to be tried again.</returns>
    public async ValueTask<Status> CopyAsync(Projection projection, LogPosition from, LogPosition until,
        CancellationToken cancellationToken)
    {
#if PLANTED
        if (Planted.Is("rebuilt-without-stream-tails")) return Status.Ok;
#endif
        var chains = projection.Segments.Where(s => s.From < until && (s.Until is not { } end || end > from))
            .SelectMany(s => s.Chains).ToList();
        foreach (var target in chains.SelectMany(c => c.Replicas).Where(r => r.Joining).Select(r => r.Unit).Distinct()
            .ToList())
        {
            var info = await units.CallAsync(projection, target, new UnitInfoRequest(projection.Epoch),
                cancellationToken);
            if (!info.IsOk) return info.Status;
            var below = LogPosition.Min(info.TrimMark, until);
            if (below == LogPosition.Zero) continue;
            var listed = new Dictionary<NodeId, bool>();
            foreach (var chain in chains.Where(c => c.Replicas.Any(r => r.Joining && r.Unit == target)))
            {
                var status = await CopyChainAsync(projection, chain, target, below, listed, cancellationToken);
                if (status != Status.Ok) return status;
            }
        }

        return Status.Ok;
    }

    /// <summary>The head alone surely has everything that is, or may become, part of the log; what its damaged headers
    /// hide, the replicas behind it have.</summary>
    private async ValueTask<Status> CopyChainAsync(
        Projection projection, Chain chain, NodeId target, LogPosition below, Dictionary<NodeId, bool> listed,
        CancellationToken cancellationToken)
    {
        foreach (var source in chain.Replicas.Take(chain.FullCount).Select(r => r.Unit))
        {
            if (!listed.TryGetValue(source, out var complete))
            {
                (var status, complete) = await CopyListAsync(projection, source, target, below, cancellationToken);
                if (status != Status.Ok) return status;
                listed.Add(source, complete);
            }

            if (complete) break;
        }

        return Status.Ok;
    }

    private async ValueTask<(Status Status, bool Complete)> CopyListAsync(
        Projection projection, NodeId source, NodeId target, LogPosition below, CancellationToken cancellationToken)
    {
        var at = default(StreamListCursor);
        var complete = true;
        while (true)
        {
            var list = await units.CallAsync(projection, source,
                new ListStreamTailsRequest(projection.Epoch, below, at), cancellationToken);
            if (!list.IsOk) return (list.Status, false);
            complete &= list.Complete;
            if (!list.Tails.IsEmpty)
            {
                var taken = await units.CallAsync(projection, target,
                    new ImportStreamTailsRequest(projection.Epoch, list.Tails), cancellationToken);
                if (!taken.IsOk) return (taken.Status, false);
            }

            if (list.IsLast) return (Status.Ok, complete);
            at = list.Next;
        }
    }
}
