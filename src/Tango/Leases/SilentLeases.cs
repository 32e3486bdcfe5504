using Corfu.Protocol;
using Tango.Playback;

namespace Tango.Leases;

/// <summary>How long one object's leases have been without a renewal, as this runtime saw it on its own
/// clock.</summary>
internal sealed class SilentLeases(TimeProvider time)
{
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_shortestPause = TimeSpan.FromMilliseconds(1);

    // By id, as of the view at _seen; the time is that at which the version was first seen here.
    private Dictionary<long, (LeaseInfo Lease, long SeenAt)> _leases = [];
    private LogPosition _seen;

    /// <summary>Until the next look: a fraction of the shortest time to live.</summary>
    public TimeSpan Pause { get; private set; } = s_longestPause;

    /// <returns>False: the object has no leases.</returns>
    public bool Look(FrozenView published)
    {
        if (published.Stopped is not null || published.View is not ITangoLeased view)
        {
            (_leases, _seen) = ([], LogPosition.Zero);
            return false;
        }

        if (published.LastWriteEnd == _seen) return _leases.Count > 0;
        var now = time.GetTimestamp();
        var leases = new Dictionary<long, (LeaseInfo, long)>();
        var shortest = TimeSpan.MaxValue;
        foreach (var lease in view.Leases)
        {
            leases[lease.Id] = _leases.TryGetValue(lease.Id, out var known) && known.Lease == lease
                ? known
                : (lease, now);
            if (lease.TimeToLive < shortest) shortest = lease.TimeToLive;
        }

        (_leases, _seen) = (leases, published.LastWriteEnd);
        Pause = TimeSpan.FromTicks(
            Math.Clamp(shortest.Ticks / 4, s_shortestPause.Ticks, s_longestPause.Ticks));
        return leases.Count > 0;
    }

    /// <summary>The leases whose version was the same for their whole time to live, as of the last look.</summary>
    public LeaseInfo[] FindSilent() =>
    [
        .. _leases.Values
            .Where(known => time.GetElapsedTime(known.SeenAt) >= Limit(known.Lease))
            .Select(static known => known.Lease)
            .OrderBy(static lease => lease.Id),
    ];

    private static TimeSpan Limit(LeaseInfo lease)
    {
#if PLANTED
        if (Planted.Is("expires-without-silence")) return lease.TimeToLive / 8;
#endif
        return lease.TimeToLive;
    }
}
