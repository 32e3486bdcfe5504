using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>The callers that share one check, and the union of their streams. Filled before it starts, fixed afterwards.</summary>
internal sealed class CheckBatch
{
    private readonly Dictionary<StreamId, int> _index = [];
    private readonly ImmutableArray<StreamId>.Builder _streams = ImmutableArray.CreateBuilder<StreamId>();
    private readonly List<CheckWaiter> _waiters = [];

    // How many waiters were taken to be released, by whatever thread.
    private int _released;
    private int _finished;

    public int Callers => _waiters.Count;

    public ImmutableArray<StreamId> Streams => _streams.ToImmutable();

    /// <summary>Null when there is no room for so many more.</summary>
    public CheckWaiter? TryAdd(ImmutableArray<StreamId> streams)
    {
        if (Callers > 0 && _streams.Count + streams.Length > MessageLimits.MaxItems) return null;
        var waiter = new CheckWaiter(this, streams);
        _waiters.Add(waiter);
        foreach (var stream in streams)
        {
            if (_index.TryAdd(stream, _streams.Count)) _streams.Add(stream);
        }

        return waiter;
    }

    public LogCheck Pick(TailResponse response, ImmutableArray<StreamId> streams)
    {
        if (streams.IsEmpty) return new LogCheck(response.Tail, []);
        var tails = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) tails.Add(response.Tails[_index[stream]]);
        return new LogCheck(response.Tail, tails.MoveToImmutable());
    }

    /// <summary>The next caller to be told; every one is taken once.</summary>
    public bool TryTakeWaiter(out CheckWaiter waiter, out bool more)
    {
        var index = Interlocked.Increment(ref _released) - 1;
        more = index < _waiters.Count - 1;
        waiter = index < _waiters.Count ? _waiters[index] : null!;
        return waiter is not null;
    }

    /// <summary>True once.</summary>
    public bool Finish() => Interlocked.Exchange(ref _finished, 1) == 0;
}
