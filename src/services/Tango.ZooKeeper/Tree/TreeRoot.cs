using NodeMap = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.ZNode, Tango.ZooKeeper.NodeKeys>;
using PathSet = Tango.ZooKeeper.HashTrie<string, string, Tango.ZooKeeper.PathKeys>;

namespace Tango.ZooKeeper;

/// <summary>
/// The whole state of a tree at one record. It never changes (Z22): a record makes another root, which shares with this
/// one all that the record left alone.
/// </summary>
public sealed class TreeRoot
{
    internal TreeRoot(ulong seed)
    {
        Seed = seed;
        Nodes = new NodeMap(seed);
        Sessions = new SessionTable(seed);
        Reapable = new PathSet(seed);
    }

    /// <summary>The state before the record that begins a tree: every other record is refused.</summary>
    internal static TreeRoot NotBegun { get; } = new(0);

    /// <summary>Meaning of records (<see cref="TreeLevel"/>); 0: the tree has not begun.</summary>
    public int Level { get; internal init; }

    public TreeSettings Settings { get; internal init; } = new();

    /// <summary>Zxid of the last record.</summary>
    public long LastZxid { get; internal init; }

    public int NodeCount => Nodes.Count;

    public int SessionCount => Sessions.Count;

    /// <summary>Characters of all paths, and bytes of all data.</summary>
    public long DataBytes { get; internal init; }

    /// <summary>The front ends that are up, and those whose sessions have not all left; by id.</summary>
    public IEnumerable<FrontEnd> AllFrontEnds => FrontEnds.Rows;

    internal ulong Seed { get; }

    internal NodeMap Nodes { get; init; }

    internal SessionTable Sessions { get; init; }

    internal FrontEndTable FrontEnds { get; init; } = FrontEndTable.Empty;

    /// <summary>Paths of container and TTL nodes.</summary>
    internal PathSet Reapable { get; init; }

    internal QuotaTable Quotas { get; init; } = QuotaTable.Empty;

    /// <summary>No part of the state.</summary>
    internal AclCache Acls { get; init; } = new();

    public ZNode? Find(string path) => Nodes.Find(path);

    public ZooKeeperSession? FindSession(long id) => Sessions.Find(id);

    public FrontEnd? FindFrontEnd(long id) => FrontEnds.Find(id);

    /// <summary>Equal roots in equal order.</summary>
    public IEnumerable<ZooKeeperSession> AllSessions() => Sessions.Sessions();

    /// <summary>Nodes that an observer may reap once they are empty and their time has come.</summary>
    public IEnumerable<ZNode> ReapableNodes() => Reapable.Items().Select(path => Nodes.Find(path)!);

    /// <summary>All nodes at and below a path; none if it does not exist. Parents stand before their
    /// children.</summary>
    public IEnumerable<ZNode> Subtree(string path) => Nodes.Subtree(path);
}
