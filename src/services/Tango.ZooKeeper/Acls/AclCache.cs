namespace Tango.ZooKeeper;

/// <summary>
/// Equal lists as one instance: a million nodes have a few lists. A cache of values that never change, of fixed size;
/// what it forgets is only stored twice.
/// </summary>
/// <remarks>Thread-safe: a slot is read and written as one reference.</remarks>
internal sealed class AclCache
{
    /// <summary>Longer lists are not shared: the cache may keep lists that no state has, of requests that failed, and
    /// must stay small whatever clients send.</summary>
    internal const int MaxEntries = 16;

    internal const int MaxIdLength = 256;

    private const int Slots = 1024;

    private readonly AclList?[] _lists = new AclList?[Slots];

    public AclList Share(AclList list)
    {
        if (!IsShort(list)) return list;
        ref var slot = ref _lists[(uint)list.GetHashCode() % Slots];
        var known = Volatile.Read(ref slot);
        if (list.Equals(known)) return known;
        Volatile.Write(ref slot, list);
        return list;
    }

    private static bool IsShort(AclList list)
    {
        if (list.Entries.Length > MaxEntries) return false;
        foreach (var entry in list.Entries)
        {
            if (entry.Id!.Length > MaxIdLength) return false;
        }

        return true;
    }
}
