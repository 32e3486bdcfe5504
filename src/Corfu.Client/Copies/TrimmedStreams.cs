using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// What the units know of streams below a position that is trimmed, where no page tells it any more (R22): for copies
/// of a log, which would else show a stream whose entries are all trimmed as one that never had any.
/// </summary>
internal sealed class TrimmedStreams(UnitCalls units)
{
    /// <summary>Ascending by stream; of each its newest positions below, as far as they are known.</summary>
    public async ValueTask<Attempt<ImmutableArray<StreamTail>>> TryListAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        var known = new SortedDictionary<ulong, List<LogPosition>>();
        var listed = new Dictionary<NodeId, bool>();
        foreach (var chain in view.Projection.Segments.SelectMany(s => s.Chains))
        {
            // The head alone surely has everything; what its damaged headers hide, those behind it have.
            foreach (var unit in chain.Replicas.Take(chain.FullCount).Select(r => r.Unit))
            {
                if (!listed.TryGetValue(unit, out var complete))
                {
                    (var status, complete) = await ListAsync(view, unit, below, known, cancellationToken);
                    if (status != Status.Ok) return status;
                    listed.Add(unit, complete);
                }

                if (complete) break;
            }
        }

        return known.Select(s => new StreamTail(new StreamId(s.Key), FrozenTails.Newest(s.Value))).ToImmutableArray();
    }

    private async ValueTask<(Status Status, bool Complete)> ListAsync(
        EpochView view, NodeId unit, LogPosition below, SortedDictionary<ulong, List<LogPosition>> known,
        CancellationToken cancellationToken)
    {
        var at = default(StreamListCursor);
        var complete = true;
        while (true)
        {
            var list = await units.CallAsync(
                view, unit, new ListStreamTailsRequest(view.Epoch, below, at), cancellationToken);
            if (!list.IsOk) return (list.Status, false);
            complete &= list.Complete;
            foreach (var tail in list.Tails)
            {
                foreach (var position in tail.Positions.Where(p => p < below))
                {
                    if (!known.TryGetValue(tail.Stream.Value, out var positions))
                        known.Add(tail.Stream.Value, positions = []);
                    positions.Add(position);
                }
            }

            if (list.IsLast) return (Status.Ok, complete);
            at = list.Next;
        }
    }
}
