namespace Tango.Ledgers.Reading;

/// <summary>Tells followers when the streams of open ledgers have grown: one check, in each interval, for all that wait
/// in this process.</summary>
// A session check may miss what is newest for a while. A follower that is told asks for itself.
internal sealed class SlotPolls(ICorfuLog log, TimeProvider time, LoopContext loops, TimeSpan interval)
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly List<Waiter> _waiters = [];
    private bool _isRunning;

    /// <summary>Waits until the stream's newest position is another one.</summary>
    /// <param name="known">As the last call returned; null: the stream has no entry.</param>
    public async ValueTask<LogPosition?> WaitAsync(
        StreamId stream, LogPosition? known, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(stream, known);
        lock (_gate)
        {
            _waiters.Add(waiter);
            if (!_isRunning) loops.Start(RunAsync);
            _isRunning = true;
        }

        try
        {
            return await waiter.Answer.OrCancelAsync(cancellationToken);
        }
        finally
        {
            lock (_gate) _waiters.Remove(waiter);
        }
    }

    private async Task RunAsync()
    {
        while (true)
        {
            Waiter[] waiters;
            lock (_gate)
            {
                waiters = [.. _waiters];
                if (!(_isRunning = waiters.Length > 0)) return;
            }

            try
            {
                ImmutableArray<StreamId> streams = [.. waiters.Select(static waiter => waiter.Stream).Distinct()];
                var check = await log.CheckAsync(streams, ReadConsistency.Session);
                var newest = check.Streams.ToDictionary(static tail => tail.Stream, static tail => tail.Positions);
                foreach (var waiter in waiters)
                {
                    LogPosition? now = newest[waiter.Stream] is [var first, ..] ? first : null;
                    if (now != waiter.Known) waiter.Answer.TrySetResult(now);
                }
            }
            catch (Exception e)
            {
                foreach (var waiter in waiters) waiter.Answer.TrySetException(e);
            }

            await Task.Delay(interval, time);
        }
    }

    private sealed class Waiter(StreamId stream, LogPosition? known)
    {
        public StreamId Stream => stream;

        public LogPosition? Known => known;

        public TaskCompletionSource<LogPosition?> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
