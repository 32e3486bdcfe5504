namespace JobScheduler.Scheduling;

/// <summary>
/// Whose turn it is to start jobs. Turns pass from replica to replica after a fixed number of starts, as the shared
/// state shows it. They only keep the replicas out of each other's way: when the state stands still, the next replica
/// takes the turn over, and if both act, one of their transactions aborts.
/// </summary>
public sealed class TurnWatch(int replica, int replicas, SchedulingLimits limits, TimeProvider time)
{
    private (int Started, int Submitted, int Running) _seen = (-1, -1, -1);
    private long _since;
    private int _takenOver = -1;

    /// <summary>The shared state has stood still for so long that others seem to be gone: their share of the work is
    /// everybody's.</summary>
    public bool IsStalled { get; private set; }

    /// <summary>When to look at the log again, if nothing else is to be done until then.</summary>
    public TimeSpan PollInterval { get; private set; } = limits.PollInterval;

    /// <summary>To be asked with every new view.</summary>
    public bool IsMine(SchedulerView view)
    {
        (int, int, int) now = (view.Started, view.Submitted, view.Running.Count);
        if (now != _seen)
        {
            _seen = now;
            _since = time.GetTimestamp();
        }

        TimeSpan still = time.GetElapsedTime(_since);
        IsStalled = still >= limits.StallTimeout;
        int turn = view.Started / limits.TurnLength;
        int distance = (replica - turn % replicas + replicas) % replicas;
        bool isNext = distance == 1 && view.Started % limits.TurnLength >= limits.TurnLength - limits.StartsBeforeTurn;
        PollInterval = isNext ? limits.PollIntervalBeforeTurn : limits.PollInterval;
        if (distance == 0 || turn == _takenOver)
            return true;
        if (still < limits.StallTimeout * distance)
            return false;
        _takenOver = turn;
        return true;
    }
}
