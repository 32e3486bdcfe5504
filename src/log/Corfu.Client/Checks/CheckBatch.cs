namespace Corfu.Client;

/// <summary>The callers of one check and the union of their streams, fixed from its start on.</summary>
internal sealed class CheckBatch
{
    private readonly Dictionary<StreamId, int> _index = [];
    private readonly ImmutableArray<StreamId>.Builder _streams = ImmutableArray.CreateBuilder<StreamId>();
    private readonly List<CheckWaiter> _waiters = [];

    // Waiters taken to be completed, by any thread.
    private int _taken;
    private int _finished;

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

    public bool HasMore => Volatile.Read(ref _taken) < _waiters.Count;

    /// <summary>Each waiter is taken once; null when all are.</summary>
    public CheckWaiter? TakeWaiter() =>
        Interlocked.Increment(ref _taken) - 1 is var index && index < _waiters.Count ? _waiters[index] : null;

    /// <summary>Never throws: an answer that lacks a tail is an error for the caller that needs it.</summary>
    public void Complete(CheckWaiter waiter, TailResponse? response, Exception? error)
    {
        try
        {
            if (error is null) waiter.TrySetResult(Pick(response!, waiter.Streams));
            else waiter.TrySetException(error);
        }
        catch (Exception e)
        {
            waiter.TrySetException(e);
        }
    }

    /// <summary>True for the first caller only.</summary>
    public bool TryFinish() => Interlocked.Exchange(ref _finished, 1) == 0;

    private LogCheck Pick(TailResponse response, ImmutableArray<StreamId> streams)
    {
        if (streams.IsEmpty) return new LogCheck(response.Tail, []);
        var tails = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) tails.Add(response.Tails[_index[stream]]);
        return new LogCheck(response.Tail, tails.MoveToImmutable());
    }
}

/// <summary>A caller of a check. The continuation runs on the completing thread, unless the caller has a context:
/// asynchronous ones halve what 64 raw callers reach.</summary>
internal sealed class CheckWaiter(ImmutableArray<StreamId> streams) : TaskCompletionSource<LogCheck>(
    IsInlineAllowed ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously)
{
    public static bool IsInlineAllowed =>
        SynchronizationContext.Current is null && TaskScheduler.Current == TaskScheduler.Default;

    public ImmutableArray<StreamId> Streams { get; } = streams;
}
