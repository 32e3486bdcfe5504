namespace JobScheduler.Silos;

/// <summary>When silos are killed: spread over the starts of a run.</summary>
/// <remarks>With n kills and j jobs, kill k = 1..n is due once j k / (n + 1) jobs have been started. Half a distance
/// later the replicas wait for it, so that a fast run does not end before its kills.</remarks>
internal sealed class KillPlan(int jobs, int kills)
{
    private int _done;

    public int Done => Volatile.Read(ref _done);

    /// <summary>No job is started above this many until the next kill; no limit after the last.</summary>
    public int StartLimit => Done == kills ? int.MaxValue : (int)((long)jobs * (2 * Done + 3) / (2 * (kills + 1)));

    public bool IsDue(int started) => Done < kills && started >= (long)jobs * (Done + 1) / (kills + 1);

    public void Killed() => Interlocked.Increment(ref _done);
}
