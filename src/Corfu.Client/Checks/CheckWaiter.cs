using System.Collections.Immutable;
using System.Threading.Tasks.Sources;
using Corfu.Protocol;

namespace Corfu.Client;

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
