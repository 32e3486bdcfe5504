using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Looks at the log's tail while subscriptions wait for it to move: one look serves all of them.</summary>
internal sealed class TailWatcher(ILogSource source, IOptions<CorfuGrpcOptions> options, TimeProvider time)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Not empty exactly while the loop runs.
    private readonly List<Waiter> _waiters = [];

    /// <summary>Waits until the tail is above <paramref name="known"/> or of a later epoch, which may begin
    /// below.</summary>
    public async ValueTask<TailMove> MovesAsync(LogPosition known, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(known);
        bool first;
        lock (_gate)
        {
            first = _waiters.Count == 0;
            _waiters.Add(waiter);
        }

        if (first) LoopContext.Pool.Start(WatchAsync);
        try
        {
            var tail = await waiter.Task.WaitAsync(options.Value.Heartbeat, time, cancellationToken);
            return new TailMove(tail, IsHeartbeat: false);
        }
        catch (TimeoutException)
        {
            return new TailMove(null, IsHeartbeat: true);
        }
        finally
        {
            waiter.TrySetCanceled(CancellationToken.None);
        }
    }

    private async Task WatchAsync()
    {
        do
        {
            await Task.Delay(options.Value.TailInterval, time);
            LogPosition? tail = null;
            try
            {
                var log = await source.GetAsync(CancellationToken.None);
                tail = (await log.CheckAsync([])).Tail;
            }
            catch (Exception)
            {
                // The waiters ask the log themselves, and report errors. The loop must not end while there are any: no
                // other one would begin.
            }

            foreach (var waiter in Due(tail)) waiter.TrySetResult(tail);
        }
        while (GoesOn());
    }

    private List<Waiter> Due(LogPosition? tail)
    {
        lock (_gate)
            return _waiters.FindAll(waiter => tail is null || tail > waiter.Known
                || tail.Value.Epoch > waiter.Known.Epoch);
    }

    private bool GoesOn()
    {
        lock (_gate)
        {
            _waiters.RemoveAll(static waiter => waiter.Task.IsCompleted);
            return _waiters.Count > 0;
        }
    }

    private sealed class Waiter(LogPosition known)
        : TaskCompletionSource<LogPosition?>(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public LogPosition Known { get; } = known;
    }
}

/// <param name="Tail">The confirmed tail; null where it is not known: the waiter asks itself.</param>
/// <param name="IsHeartbeat">Nothing moved for the heartbeat's time.</param>
internal readonly record struct TailMove(LogPosition? Tail, bool IsHeartbeat);
