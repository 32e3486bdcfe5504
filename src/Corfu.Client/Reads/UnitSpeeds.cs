using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// How fast each unit answers reads, as measured by this client: the nearest replica is the one that answers first. A measurement fades, so
/// that a unit which was slow is tried again.
/// </summary>
internal sealed class UnitSpeeds(TimeProvider time)
{
    private const double Weight = 0.2;
    private const double PenaltySeconds = 1;

    // Replicas within this of the best count as equally near, and share the load.
    private const double NearFactor = 2;
    private const double NearSlackSeconds = 0.0005;

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Dictionary<NodeId, (double Seconds, long At)> _units = [];

    public void Answered(NodeId unit, TimeSpan took)
    {
        lock (_gate)
        {
            var known = _units.TryGetValue(unit, out var speed) ? Faded(speed) : took.TotalSeconds;
            _units[unit] = (known + (Weight * (took.TotalSeconds - known)), time.GetTimestamp());
        }
    }

    /// <summary>No answer, or none in time.</summary>
    public void Failed(NodeId unit)
    {
        lock (_gate) _units[unit] = (PenaltySeconds, time.GetTimestamp());
    }

    /// <summary>After this long without an answer another replica is asked.</summary>
    public TimeSpan HedgeAfter(NodeId unit, CorfuClientOptions options)
    {
        lock (_gate)
        {
            var expected = TimeSpan.FromSeconds(_units.TryGetValue(unit, out var speed) ? speed.Seconds : 0) * options.HedgeFactor;
            return expected < options.MinHedgeDelay ? options.MinHedgeDelay : expected;
        }
    }

    /// <summary>
    /// The place in the chain of a near full replica that is not excluded; -1 when all are. Among equally near ones neighbouring positions go to
    /// different replicas; with <paramref name="preferTail"/> to the tail.
    /// </summary>
    public int Choose(Chain chain, long spread, ulong excluded, bool preferTail)
    {
        if (chain.FullCount == 1) return (excluded & 1) == 0 ? 0 : -1;
        Span<double> seconds = stackalloc double[Math.Min(chain.FullCount, 64)];
        var best = double.MaxValue;
        lock (_gate)
        {
            for (var i = 0; i < seconds.Length; i++)
            {
                if ((excluded & (1UL << i)) != 0) continue;
                seconds[i] = _units.TryGetValue(chain.Replicas[i].Unit, out var speed) ? Faded(speed) : 0;
                best = Math.Min(best, seconds[i]);
            }
        }

        var limit = (best * NearFactor) + NearSlackSeconds;
        var near = 0;
        for (var i = 0; i < seconds.Length; i++)
        {
            if ((excluded & (1UL << i)) == 0 && seconds[i] <= limit) near++;
            else seconds[i] = double.MaxValue;
        }

        if (near == 0) return -1;
        if (preferTail && seconds[^1] <= limit) return seconds.Length - 1;
        var skip = (int)(spread % near);
        for (var i = 0; ; i++)
        {
            if (seconds[i] <= limit && skip-- == 0) return i;
        }
    }

    // Halves with every second without news.
    private double Faded((double Seconds, long At) speed) => speed.Seconds * Math.Pow(0.5, time.GetElapsedTime(speed.At).TotalSeconds);
}
