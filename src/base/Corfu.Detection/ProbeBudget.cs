namespace Corfu.Detection;

/// <summary>Bounds the probes that other processes ask for: a caller must not make agents load a network.</summary>
internal sealed class ProbeBudget(AgentClock clock)
{
    /// <summary>Far more than agents ask for: they agree on a few nodes at a time.</summary>
    internal const int MaxAtOnce = 8;

    internal const int MaxPerSecond = 64;

    private TimeSpan _second;
    private int _begun;
    private int _running;

    /// <summary>False: the question is answered without a probe.</summary>
    public bool TryBegin()
    {
        var now = clock.Now;
        if (now - _second >= TimeSpan.FromSeconds(1)) (_second, _begun) = (now, 0);
        if (_running >= MaxAtOnce || _begun >= MaxPerSecond) return false;
        _running++;
        _begun++;
        return true;
    }

    public void End() => _running--;
}
