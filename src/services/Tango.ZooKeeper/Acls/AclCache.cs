namespace Tango.ZooKeeper;

/// <summary>
/// Equal lists as one instance: a million nodes have a few lists. A cache of values that never change, of fixed size;
/// what it forgets is only stored twice.
/// </summary>
/// <remarks>Thread-safe: a slot is read and written as one reference.</remarks>
internal sealed class AclCache
{
    private const int Slots = 1024;

    private readonly AclList?[] _lists = new AclList?[Slots];

    public AclList Share(AclList list)
    {
        ref var slot = ref _lists[(uint)list.GetHashCode() % Slots];
        var known = Volatile.Read(ref slot);
        if (list.Equals(known)) return known;
        Volatile.Write(ref slot, list);
        return list;
    }
}
