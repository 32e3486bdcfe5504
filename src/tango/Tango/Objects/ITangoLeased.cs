namespace Tango;

/// <summary>
/// An object whose state has leases: each ends unless its owner renews it. Apply has no clock. A runtime that has the
/// object open, and saw no renewal of a lease for its whole time to live on its own clock, appends the lease's expiry.
/// Apply ends the lease only if it still has the version that was seen.
/// </summary>
public interface ITangoLeased
{
    /// <summary>All leases of a view.</summary>
    IEnumerable<LeaseInfo> Leases { get; }

    /// <summary>Appends the expiry of a lease through a handle. Without effect if the lease has another version when it
    /// is applied.</summary>
    ValueTask ExpireAsync(long lease, long version, CancellationToken cancellationToken);
}

/// <param name="Id">Number of the lease, within its object.</param>
/// <param name="Version">Another one after each renewal.</param>
/// <param name="TimeToLive">Without a renewal for so long, the lease ends.</param>
public readonly record struct LeaseInfo(long Id, long Version, TimeSpan TimeToLive);
