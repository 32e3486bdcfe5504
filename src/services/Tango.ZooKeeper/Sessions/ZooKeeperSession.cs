namespace Tango.ZooKeeper;

/// <summary>A client's session at one moment. It lives by its front end, and ends with all its ephemeral
/// nodes.</summary>
/// <param name="Hash">Hash of the password, which the log does not hold.</param>
/// <param name="Timeout">Silence, in ms, that ends the session.</param>
/// <param name="Attachment">Counts the front ends that had it: requests of an older one have no effect.</param>
/// <param name="FrontEnd">Has it now.</param>
/// <param name="Ephemerals">Paths of the nodes that it owns, in ordinal order.</param>
public sealed record ZooKeeperSession(
    long Id, UInt128 Hash, int Timeout, int Attachment, long FrontEnd, ImmutableSortedSet<string> Ephemerals)
{
    internal static ImmutableSortedSet<string> NoEphemerals { get; } =
        ImmutableSortedSet.Create<string>(StringComparer.Ordinal);
}

/// <summary>Sessions by id.</summary>
internal readonly struct SessionKeys : ITrieKeys<long, ZooKeeperSession>
{
    public static long KeyOf(ZooKeeperSession item) => item.Id;

    public static ulong Hash(long key, ulong seed)
    {
        // Finalizer of SplitMix64.
        var hash = (ulong)key ^ seed;
        hash = (hash ^ (hash >> 30)) * 0xBF58_476D_1CE4_E5B9;
        hash = (hash ^ (hash >> 27)) * 0x94D0_49BB_1331_11EB;
        return hash ^ (hash >> 31);
    }

    public static bool IsKeyOf(ZooKeeperSession item, long key) => item.Id == key;

    public static int Compare(ZooKeeperSession left, ZooKeeperSession right) => left.Id.CompareTo(right.Id);
}
