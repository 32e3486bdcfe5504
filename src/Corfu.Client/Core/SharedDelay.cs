namespace Corfu.Client;

/// <summary>
/// The time after which something else is tried, for calls that hardly ever take so long: those that begin within a quarter of it share one timer.
/// </summary>
internal sealed class SharedDelay(ClientCore core, TimeSpan delay)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: the newest timer, and when it began.
    private Task _timer = Task.CompletedTask;
    private long _began;

    /// <summary>Completes after the delay, or up to a quarter later; also when the client is closed.</summary>
    public Task FromNow()
    {
        lock (_gate)
        {
            if (_timer.IsCompleted || core.Time.GetElapsedTime(_began) * 4 >= delay)
            {
                _began = core.Time.GetTimestamp();
                _timer = Task.Delay(delay * 1.25, core.Time, core.Closed);
            }

            return _timer;
        }
    }

    /// <summary>Waits for the task, at most so long; whether it has ended.</summary>
    public async ValueTask<bool> InTimeAsync(Task task)
    {
        if (task.IsCompleted) return true;
        await Task.WhenAny(task, FromNow());
        return task.IsCompleted;
    }
}
