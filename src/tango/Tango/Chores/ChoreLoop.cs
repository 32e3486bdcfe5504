using Corfu;

namespace Tango.Chores;

/// <summary>
/// Runs all chores of one runtime when they are due: one queue, the earliest first, and one loop that sleeps until
/// then. Without a queued chore there is no loop.
/// </summary>
/// <remarks>
/// Invariants:
/// <list type="bullet">
/// <item>A chore is queued once, runs once, or rests.</item>
/// <item>The loop waits for no chore, so that a slow one delays itself only.</item>
/// <item>While a chore is queued, the loop runs, and wakes up no later than the chore is due.</item>
/// <item>No chore starts after the end of the runtime.</item>
/// </list>
/// </remarks>
internal sealed class ChoreLoop(TimeProvider time, LoopContext loops, CancellationToken lifetime)
{
    private const long NotAsked = long.MaxValue;

    // After a chore that failed.
    private static readonly TimeSpan s_retry = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();

    // Guarded by _gate, by the timestamp at which each is due.
    private readonly PriorityQueue<IChore, long> _queue = new();

    // Guarded by _gate: the chores that run, and when each is due again by what was scheduled meanwhile.
    private readonly Dictionary<IChore, long> _running = [];

    // Guarded by _gate.
    private bool _isLooping;

    // Guarded by _gate: ends the loop's newest sleep.
    private TaskCompletionSource? _awake;

    /// <summary>The chore is due after the delay, or earlier if it was due earlier already.</summary>
    public void Schedule(IChore chore, TimeSpan delay)
    {
        var due = DueIn(delay);
        lock (_gate)
        {
            if (_running.TryGetValue(chore, out var asked))
            {
                _running[chore] = Math.Min(asked, due);
                return;
            }

            if (!Enqueue(chore, due)) return;
        }

        loops.Start(LoopAsync);
    }

    private async Task LoopAsync()
    {
        while (true)
        {
            IChore? chore = null;
            TaskCompletionSource? awake = null;
            TimeSpan left;
            lock (_gate)
            {
                if (lifetime.IsCancellationRequested || !_queue.TryPeek(out _, out var first))
                {
                    _isLooping = false;
                    return;
                }

                left = time.GetElapsedTime(time.GetTimestamp(), first);
                if (left <= TimeSpan.Zero) _running.Add(chore = _queue.Dequeue(), NotAsked);
                else _awake = awake = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }

            if (awake is null) loops.Start(() => RunAsync(chore!));
            else await SleepAsync(left, awake);
        }
    }

    private async ValueTask SleepAsync(TimeSpan length, TaskCompletionSource awake)
    {
        // Timers count whole milliseconds: one that was rounded down would wake the loop before the time.
        var rounded = TimeSpan.FromMilliseconds(Math.Ceiling(length.TotalMilliseconds));
        using var end = lifetime.UnsafeRegister(Wake, awake);
        using var timer = time.CreateTimer(Wake, awake, rounded, Timeout.InfiniteTimeSpan);
        await awake.Task;

        static void Wake(object? awake) => ((TaskCompletionSource)awake!).TrySetResult();
    }

    private async Task RunAsync(IChore chore)
    {
        // Off the loop from its first step on.
        await Task.Yield();
        var due = NotAsked;
        try
        {
            if (await chore.RunAsync() is { } delay) due = DueIn(delay);
        }
        catch (Exception)
        {
            // The program's logger.
            due = DueIn(s_retry);
        }

        lock (_gate)
        {
            _running.Remove(chore, out var asked);
            due = Math.Min(due, asked);
            if (due == NotAsked || !Enqueue(chore, due)) return;
        }

        loops.Start(LoopAsync);
    }

    /// <summary>Under the gate: queues a chore that does not run.</summary>
    /// <returns>Whether the caller has to start the loop.</returns>
    private bool Enqueue(IChore chore, long due)
    {
        var isFirst = !_queue.TryPeek(out _, out var first) || due < first;
        if (_queue.Remove(chore, out _, out var known)) due = Math.Min(due, known);
        _queue.Enqueue(chore, due);
        if (!_isLooping) return _isLooping = true;
        if (isFirst) _awake?.TrySetResult();
        return false;
    }

    private long DueIn(TimeSpan delay) =>
        time.GetTimestamp() + (long)Math.Ceiling(delay.TotalSeconds * time.TimestampFrequency);
}
