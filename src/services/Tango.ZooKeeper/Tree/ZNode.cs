namespace Tango.ZooKeeper;

/// <summary>A node of the tree at one moment. It never changes: a write makes another one.</summary>
public sealed class ZNode
{
    private byte[]? _data;

    internal ZNode(string path, byte[]? data, AclList acl, long owner, long zxid, long time)
    {
        (Path, _data, Acl, Owner) = (path, data, acl, owner);
        Czxid = Mzxid = Pzxid = zxid;
        Ctime = Mtime = time;
    }

    // A checkpoint's.
    internal ZNode(string path, byte[]? data, AclList acl, long owner, in NodeCounters counters)
    {
        (Path, _data, Acl, Owner) = (path, data, acl, owner);
        (Czxid, Mzxid, Pzxid) = (counters.Czxid, counters.Mzxid, counters.Pzxid);
        (Ctime, Mtime) = (counters.Ctime, counters.Mtime);
        (Version, Creates, Aversion) = (counters.Version, counters.Creates, counters.Aversion);
    }

    public string Path { get; }

    /// <summary>Null and empty data differ.</summary>
    public ReadOnlyMemory<byte>? Data =>
        _data is { } data ? new ReadOnlyMemory<byte>(data) : default(ReadOnlyMemory<byte>?);

    public int DataLength => _data?.Length ?? 0;

    public AclList Acl { get; private set; }

    public int ChildCount => Children.Count;

    /// <summary>A container or TTL node: ended by an observer once it is empty.</summary>
    public bool IsReapable => NodeOwner.IsReapable(Owner);

    /// <summary>Milliseconds after <see cref="NodeStat.Mtime"/>; null: not a TTL node.</summary>
    public long? Ttl => NodeOwner.IsTtl(Owner) ? NodeOwner.TtlOf(Owner) : null;

    public NodeStat Stat => new(
        Czxid, Mzxid, Pzxid, Ctime, Mtime, Version, ShownCversion, Aversion,
        NodeOwner.IsSession(Owner) ? Owner : 0, DataLength, ChildCount);

    internal long Owner { get; }

    internal long Czxid { get; }

    internal long Mzxid { get; private set; }

    internal long Pzxid { get; private set; }

    internal long Ctime { get; }

    internal long Mtime { get; private set; }

    internal int Version { get; private set; }

    /// <summary>Creates below this node, deleted ones included; wraps.</summary>
    internal int Creates { get; private set; }

    internal int Aversion { get; private set; }

    internal ChildSet Children { get; private set; }

    internal NodeCounters Counters => new(Czxid, Mzxid, Pzxid, Ctime, Mtime, Version, Creates, Aversion);

    // Each create is a change, and each delete: of all children but those that are still there.
    private int ShownCversion => unchecked(Creates * 2 - ChildCount);

    /// <summary>Names of the children, equal nodes in equal order.</summary>
    public IEnumerable<string> ChildNames() => Children.Paths().Select(NodePath.NameOf);

    internal byte[]? RawData => _data;

    internal ZNode WithData(byte[]? data, long zxid, long time)
    {
        var copy = Copy();
        (copy._data, copy.Mzxid, copy.Mtime) = (data, zxid, Math.Max(Ctime, time));
        copy.Version = Next(Version);
        return copy;
    }

    internal ZNode WithAcl(AclList acl)
    {
        var copy = Copy();
        (copy.Acl, copy.Aversion) = (acl, Next(Aversion));
        return copy;
    }

    internal ZNode WithChild(string path, long zxid, ulong seed)
    {
        var copy = Copy();
        copy.Children = Children.Add(path, seed);
        copy.Creates = unchecked(Creates + 1);
        copy.Pzxid = zxid;
        return copy;
    }

    /// <summary>With a child that <see cref="Creates"/> has already.</summary>
    internal ZNode WithImportedChild(string path, long zxid, ulong seed)
    {
        var copy = Copy();
        copy.Children = Children.Add(path, seed);
        copy.Pzxid = zxid;
        return copy;
    }

    internal ZNode WithoutChild(string path, long zxid)
    {
        var copy = Copy();
        copy.Children = Children.Remove(path);
        copy.Pzxid = zxid;
        return copy;
    }

    /// <summary>Content that the service keeps itself: no version tells of it.</summary>
    internal ZNode WithKeptData(byte[] data)
    {
        var copy = Copy();
        copy._data = data;
        return copy;
    }

    /// <summary>While a checkpoint is loaded, before anything is shown.</summary>
    internal void LoadChildren(ChildSet children) => Children = children;

    /// <summary>A version that a client may ask for: -1 stands for any.</summary>
    private static int Next(int version)
    {
        var next = unchecked(version + 1);
        return next == -1 ? 0 : next;
    }

    private ZNode Copy() => (ZNode)MemberwiseClone();
}

/// <summary>Numbers of a node as they stand in a checkpoint.</summary>
internal readonly record struct NodeCounters(
    long Czxid, long Mzxid, long Pzxid, long Ctime, long Mtime, int Version, int Creates, int Aversion);

/// <summary>Nodes by path.</summary>
internal readonly struct NodeKeys : ITrieKeys<string, ZNode>
{
    public static string KeyOf(ZNode item) => item.Path;

    public static ulong Hash(string key, ulong seed) => PathKeys.Hash(key, seed);

    public static bool IsKeyOf(ZNode item, string key) => item.Path == key;

    public static int Compare(ZNode left, ZNode right) => string.CompareOrdinal(left.Path, right.Path);
}
