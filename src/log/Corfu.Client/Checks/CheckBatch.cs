namespace Corfu.Client;

/// <summary>The callers of one check and the union of their streams, fixed from its start on.</summary>
internal sealed class CheckBatch
{
    private readonly Dictionary<StreamId, int> _index = [];
    private readonly ImmutableArray<StreamId>.Builder _streams = ImmutableArray.CreateBuilder<StreamId>();
    private readonly List<CheckWaiter> _waiters = [];

    public int Callers => _waiters.Count;

    public ImmutableArray<StreamId> Streams => _streams.ToImmutable();

    /// <summary>Null when there is no room for so many more.</summary>
    public CheckWaiter? TryAdd(ImmutableArray<StreamId> streams)
    {
        if (Callers > 0 && _streams.Count + streams.Length > MessageLimits.MaxItems) return null;
        var waiter = new CheckWaiter(streams);
        _waiters.Add(waiter);
        foreach (var stream in streams)
        {
            if (_index.TryAdd(stream, _streams.Count)) _streams.Add(stream);
        }

        return waiter;
    }

    public void Complete(TailResponse response)
    {
        foreach (var waiter in _waiters) waiter.TrySetResult(Pick(response, waiter.Streams));
    }

    /// <summary>Fails the callers that have no answer yet.</summary>
    public void Fail(Exception error)
    {
        foreach (var waiter in _waiters) waiter.TrySetException(error);
    }

    private LogCheck Pick(TailResponse response, ImmutableArray<StreamId> streams)
    {
        if (streams.IsEmpty) return new LogCheck(response.Tail, []);
        var tails = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) tails.Add(response.Tails[_index[stream]]);
        return new LogCheck(response.Tail, tails.MoveToImmutable());
    }
}

/// <summary>A caller of a check.</summary>
internal sealed class CheckWaiter(ImmutableArray<StreamId> streams)
    : TaskCompletionSource<LogCheck>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public ImmutableArray<StreamId> Streams { get; } = streams;
}
