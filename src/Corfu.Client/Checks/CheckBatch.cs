using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>The callers that share one check, and the union of their streams. Filled before it starts, fixed afterwards.</summary>
internal sealed class CheckBatch() : TaskCompletionSource<TailResponse>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    private readonly Dictionary<StreamId, int> _index = [];
    private readonly ImmutableArray<StreamId>.Builder _streams = ImmutableArray.CreateBuilder<StreamId>();

    public int Callers { get; private set; }

    public ImmutableArray<StreamId> Streams => _streams.ToImmutable();

    /// <summary>False when there is no room for so many more.</summary>
    public bool TryAdd(ImmutableArray<StreamId> streams)
    {
        if (Callers > 0 && _streams.Count + streams.Length > MessageLimits.MaxItems) return false;
        Callers++;
        foreach (var stream in streams)
        {
            if (_index.TryAdd(stream, _streams.Count)) _streams.Add(stream);
        }

        return true;
    }

    public LogCheck Pick(TailResponse response, ImmutableArray<StreamId> streams)
    {
        if (streams.IsEmpty) return new LogCheck(response.Tail, []);
        var tails = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) tails.Add(response.Tails[_index[stream]]);
        return new LogCheck(response.Tail, tails.MoveToImmutable());
    }
}
