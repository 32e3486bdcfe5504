namespace Corfu.Detection;

/// <summary>The rate limit of changes: a bucket that fills with time. Pure.</summary>
public sealed class ChangeBudget(int burst, TimeSpan refill)
{
    private double _left = burst;
    private TimeSpan _at;

    public bool HasOne(TimeSpan now)
    {
        Fill(now);
        return _left >= 1;
    }

    /// <summary>Another agent's change counts too, so the bucket may go below empty.</summary>
    public void Spend(TimeSpan now)
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
