namespace Corfu.Agent;

/// <summary>The rate limit: a bucket that fills with time. Pure.</summary>
internal sealed class ChangeBudget(int burst, TimeSpan refill)
{
    private double _left = burst;
    private TimeSpan _at;

    internal bool HasOne(TimeSpan now)
    {
        Fill(now);
        return _left >= 1;
    }

    /// <summary>Another agent's change counts too, so the bucket may go below empty.</summary>
    internal void Spend(TimeSpan now)
    {
        Fill(now);
        _left = Math.Max(_left - 1, -burst);
    }

    private void Fill(TimeSpan now)
    {
        _left = Math.Min(burst, _left + ((now - _at) / refill));
        _at = now;
    }
}
