namespace Tango.ZooKeeper;

/// <summary>
/// ZooKeeper's number of a write: position of the entry and index of the record in it. Equal in every process for ever
/// and in all partitions (Z1).
/// </summary>
internal static class Zxid
{
    /// <summary>A record that cannot be numbered.</summary>
    public const long None = 0;

    /// <summary>A call that a transaction has buffered: above all others.</summary>
    public const long Pending = long.MaxValue;

    private const int IndexBits = 16;
    private const int MaxIndex = (1 << IndexBits) - 1;
    private const long MaxPosition = (1L << 47) - 1;

    public static long Of(LogPlace place)
    {
        if (place.IsPending) return Pending;
        if (place.Record > MaxIndex || place.Position.Offset > MaxPosition) return None;
        if (Planted.Is("zxid-without-index")) return place.Position.Offset << IndexBits;
        return (place.Position.Offset << IndexBits) | (uint)place.Record;
    }
}
