namespace Tango.ZooKeeper;

/// <summary>Quota of a path.</summary>
/// <param name="Limits">Limits by the quota's node. Kept, because its content may be as long as a request.</param>
internal readonly record struct PathQuota(QuotaUsage Usage, QuotaLimits Limits);
