using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// The newest positions of streams below an epoch's start. They are frozen at the units, so every client merges the
/// same lists.
/// </summary>
internal sealed class FrozenTails(UnitCalls units)
{
    /// <summary>The newest positions of the streams below the epoch's start, in the streams' order.</summary>
    public ValueTask<Attempt<ImmutableArray<StreamTail>>> GatherAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken) =>
        GatherAsync(view, streams, view.Projection.Start, cancellationToken);

    /// <summary>
    /// As above, below a position above the start where everything is decided, of streams that have no entries at or
    /// above it.
    /// </summary>
    public async ValueTask<Attempt<ImmutableArray<StreamTail>>> GatherAsync(
        EpochView view, ImmutableArray<StreamId> streams, LogPosition below, CancellationToken cancellationToken)
    {
        var request = new StreamTailsRequest(view.Epoch, streams, below);
        var sources = Sources(view.Projection);
        var answers = await Task.WhenAll(
            sources.Select(u => units.CallAsync(view, u, request, cancellationToken).AsTask()));
        var damaged = new List<NodeId>();
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk) return answers[i].Status;
            if (!answers[i].Complete) damaged.Add(sources[i]);
        }

        if (damaged.Count == 0) return Merge(streams, answers);
        var behind = await AskBehindAsync(view, request, damaged, cancellationToken);
        return behind.IsDone ? Merge(streams, answers.Concat(behind.Value)) : behind.Status;
    }

    private static ImmutableArray<StreamTail> Merge(
        ImmutableArray<StreamId> streams, IEnumerable<StreamTailsResponse> answers)
    {
        var newest = new Dictionary<StreamId, List<LogPosition>>();
        foreach (var stream in streams) newest[stream] = [];
        foreach (var answer in answers)
        {
            foreach (var tail in answer.Tails)
            {
                if (newest.TryGetValue(tail.Stream, out var positions)) positions.AddRange(tail.Positions);
            }
        }

        var merged = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) merged.Add(new StreamTail(stream, Newest(newest[stream])));
        return merged.MoveToImmutable();
    }

    /// <summary>
    /// A chain's first full replica alone surely has every entry that is, or will be completed to be, in the log. What
    /// its damaged headers hide is no longer a source of copies, so it is in the log only if a full replica behind it
    /// has it: the lists of the two together, the second one complete, lack nothing.
    /// </summary>
    private async ValueTask<Attempt<List<StreamTailsResponse>>> AskBehindAsync(
        EpochView view, StreamTailsRequest request, List<NodeId> damaged, CancellationToken cancellationToken)
    {
        List<StreamTailsResponse> answers = [];
        var complete = new Dictionary<NodeId, bool>();
        foreach (var chain in view.Projection.Segments.SelectMany(s => s.Chains).Where(c => damaged.Contains(c.Head)))
        {
            var made = false;
            for (var i = 1; i < chain.FullCount && !made; i++)
            {
                var unit = chain.Replicas[i].Unit;
                if (!complete.TryGetValue(unit, out made))
                {
                    var answer = await units.CallAsync(view, unit, request, cancellationToken);
                    if (!answer.IsOk) return answer.Status;
                    answers.Add(answer);
                    complete[unit] = made = answer.Complete;
                }
            }

            if (!made)
                throw new TransportException(
                    $"Damaged headers at every replica of a chain, {chain.Head} first, may hide entries of a stream.",
                    outcomeUnknown: false);
        }

        return answers;
    }

    /// <summary>
    /// The first full replica of every chain of every segment, each once; also where all is trimmed, for a stream that
    /// had its entries there is not one that never had any (R22).
    /// </summary>
    private static List<NodeId> Sources(Projection projection)
    {
        List<NodeId> sources = [];
        foreach (var segment in projection.Segments)
        {
            foreach (var chain in segment.Chains)
            {
                var source = chain.Head;
#if PLANTED
                if (Planted.Is("tails-from-one-chain")) source = segment.Chains[0].Head;
#endif
                if (!sources.Contains(source)) sources.Add(source);
            }
        }

        return sources;
    }

    internal static ImmutableArray<LogPosition> Newest(List<LogPosition> positions)
    {
        positions.Sort(static (a, b) => b.CompareTo(a));
        var result = ImmutableArray.CreateBuilder<LogPosition>(StreamHeader.MaxBackpointers);
        foreach (var position in positions)
        {
            if (result.Count == StreamHeader.MaxBackpointers) break;
            if (result.Count == 0 || result[^1] != position) result.Add(position);
        }

        return result.DrainToImmutable();
    }
}
