using System.Collections.Immutable;
using System.Threading.Tasks.Sources;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// The callers that share one check, and the union of their streams. Filled before it starts, fixed afterwards.
/// </summary>
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

/// <summary>One caller of a shared check: a promise that is awaited once.</summary>
internal sealed class CheckWaiter(CheckBatch batch, ImmutableArray<StreamId> streams) : IValueTaskSource<LogCheck>
{
    private ManualResetValueTaskSourceCore<TailResponse> _core;
    private CancellationTokenRegistration _cancellation;
    private CancellationToken _token;

    // Whoever sets it completes the promise: the check or the caller's cancellation.
    private int _done;

    public ValueTask<LogCheck> AsValueTask(CancellationToken cancellationToken)
    {
        var answer = new ValueTask<LogCheck>(this, _core.Version);
        if (!cancellationToken.CanBeCanceled) return answer;
        _token = cancellationToken;
        _cancellation = cancellationToken.UnsafeRegister(static state => ((CheckWaiter)state!).Cancel(), this);
        return answer;
    }

    /// <param name="inline">What awaits it runs within this call, unless it wants to be elsewhere.</param>
    public void Complete(TailResponse? response, Exception? error, bool inline)
    {
        if (Interlocked.Exchange(ref _done, 1) != 0) return;
        _core.RunContinuationsAsynchronously = !inline;
        if (error is null) _core.SetResult(response!);
        else _core.SetException(error);
    }

    LogCheck IValueTaskSource<LogCheck>.GetResult(short token)
    {
        _cancellation.Dispose();
        return batch.Pick(_core.GetResult(token), streams);
    }

    ValueTaskSourceStatus IValueTaskSource<LogCheck>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<LogCheck>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    private void Cancel() => Complete(null, new OperationCanceledException(_token), inline: false);
}
