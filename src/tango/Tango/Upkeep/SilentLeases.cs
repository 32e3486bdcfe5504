using Corfu;
using Tango.Model;

namespace Tango.Upkeep;

/// <summary>How long one object's leases have been without a renewal, as this runtime saw it on its own
/// clock.</summary>
internal sealed class SilentLeases(TimeProvider time)
{
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_shortestPause = TimeSpan.FromMilliseconds(50);

    // By id, as of the view at _seen; the time is that at which the version was first seen here.
    private Dictionary<long, (LeaseInfo Lease, long SeenAt)> _leases = [];
    private LogPosition? _seen;

    /// <summary>Whether the object had leases at the last look.</summary>
    public bool Any => _leases.Count > 0;

    /// <summary>Until the next look: a fraction of the shortest time to live.</summary>
    public TimeSpan Pause { get; private set; } = s_longestPause;

    /// <summary>The leases of a view; null of an object that is stopped, or not hosted.</summary>
    public static IEnumerable<LeaseInfo>? Of(FrozenView published) =>
        published is { Stopped: null, View: ITangoLeased view } ? view.Leases : null;

    public void Look(FrozenView published)
    {
        if (Of(published) is not { } told)
        {
            (_leases, _seen) = ([], null);
            return;
        }

        if (published.LastWriteEnd == _seen) return;
        var now = time.GetTimestamp();
        var leases = new Dictionary<long, (LeaseInfo, long)>();
        var pause = s_longestPause;
        foreach (var lease in told)
        {
            leases[lease.Id] = Has(lease) ? _leases[lease.Id] : (lease, now);
            if (lease.TimeToLive / 4 < pause) pause = lease.TimeToLive / 4;
        }

        (_leases, _seen) = (leases, published.LastWriteEnd);
        Pause = pause > s_shortestPause ? pause : s_shortestPause;
    }

    /// <summary>Whether the lease is there and was not renewed, as of the last look.</summary>
    public bool Has(LeaseInfo lease) => _leases.TryGetValue(lease.Id, out var known) && known.Lease == lease;

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
        if (Planted.Is("expires-without-silence")) return lease.TimeToLive / 8;
        return lease.TimeToLive;
    }
}
