namespace Tango.ZooKeeper;

/// <summary>Kind of a node, by what ends it besides a delete: the end of the session that owns it, or a reap.
/// ZooKeeper's encoding in one number.</summary>
internal static class NodeOwner
{
    public const long None = 0;
    public const long Container = long.MinValue;

    /// <summary>In milliseconds: what fits below the marker of a TTL.</summary>
    public const long MaxTtl = (1L << 40) - 1;

    /// <summary>Session ids are below the two markers.</summary>
    public const long MaxSession = 1L << 62;

    private const long TtlMarker = unchecked((long)0xFF00_0000_0000_0000);

    /// <param name="milliseconds">From 1 to <see cref="MaxTtl"/>.</param>
    public static long Ttl(long milliseconds) => TtlMarker | milliseconds;

    public static bool IsSession(long owner) => owner > 0;

    public static bool IsTtl(long owner) => (owner & TtlMarker) == TtlMarker;

    /// <summary>Whether an observer may end the node once it is empty.</summary>
    public static bool IsReapable(long owner) => owner < 0;

    public static long TtlOf(long owner) => IsTtl(owner) ? owner & MaxTtl : 0;
}
