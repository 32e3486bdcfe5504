using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Tells the sequencer of an epoch the tails of streams below the epoch's start. They are frozen at the units, so every client
/// merges the same lists, and the first hand-over of a stream wins (design 4, Sequencer).
/// </summary>
internal sealed class StreamHandOver(ClientCore core)
{
    /// <returns>Ok, or why the epoch's units or sequencer refuse: Sealed above all, which a sequencer that was replaced never hears of.</returns>
    public async ValueTask<Status> RunAsync(EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var tasks = new List<Task<StreamTailsResponse>>();
        foreach (var unit in Sources(view.Projection))
            tasks.Add(core.CallUnitAsync(view, unit, new StreamTailsRequest(view.Epoch, streams), cancellationToken).AsTask());

        var newest = new Dictionary<StreamId, List<LogPosition>>();
        foreach (var stream in streams) newest[stream] = [];
        foreach (var response in await Task.WhenAll(tasks))
        {
            if (!response.IsOk) return response.Status;

            // A unit whose list may lack positions is no source, and there is no other: its chain's first full replica is the only
            // one that surely has every entry that is, or will be completed to be, in the log.
            if (!response.Complete) throw new TransportException("A unit's damaged headers may hide entries of a stream.", outcomeUnknown: false);
            foreach (var tail in response.Tails)
            {
                if (newest.TryGetValue(tail.Stream, out var positions)) positions.AddRange(tail.Positions);
            }
        }

        var merged = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) merged.Add(new StreamTail(stream, Newest(newest[stream])));
        ClientTelemetry.HandOvers.Add(streams.Length);
        return (await core.CallSequencerAsync(view, new LoadStreamsRequest(view.Epoch, merged.MoveToImmutable()), cancellationToken)).Status;
    }

    /// <summary>The first full replica of every chain of every segment that is not wholly below the trim mark, each once.</summary>
    private static List<NodeId> Sources(Projection projection)
    {
        List<NodeId> sources = [];
        foreach (var segment in projection.Segments)
        {
            if (segment.Until is { } until && until <= projection.TrimMark) continue;
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

    private static ImmutableArray<LogPosition> Newest(List<LogPosition> positions)
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
