namespace Tango.ZooKeeper;

/// <summary>
/// The whole state of a tree at one record. It never changes: a record makes another root, which shares with this one
/// all that the record left alone.
/// </summary>
// Z22: front ends read roots, and checkpoints are written from them, while playback goes on.
public sealed class TreeRoot
{
    internal TreeRoot(in TreeParts parts) => Parts = parts;

    /// <summary>The state before the record that begins a tree: every other record is refused.</summary>
    internal static TreeRoot NotBegun { get; } = new(TreeParts.Empty(seed: 0));

    /// <summary>Meaning of records (<see cref="TreeLevel"/>); 0: the tree has not begun.</summary>
    public int Level => Parts.Level;

    public TreeSettings Settings => Parts.Settings;

    /// <summary>Zxid of the last record.</summary>
    public long LastZxid => Parts.LastZxid;

    public int NodeCount => Parts.Nodes.Count;

    public int SessionCount => Parts.Sessions.Count;

    /// <summary>Characters of all paths, and bytes of all data.</summary>
    public long DataBytes => Parts.DataBytes;

    /// <summary>The front ends that are up, and those whose sessions have not all left; by id.</summary>
    public IEnumerable<FrontEnd> AllFrontEnds => Parts.FrontEnds.Rows;

    /// <summary>Mount of this partition; <c>/</c> for the root partition.</summary>
    public string Home => Parts.Mounts.Home;

    /// <summary>Mounts of the service, equal in all partitions. None is taken away.</summary>
    public int MountCount => Parts.Mounts.Count;

    /// <summary>Mounts of the service, by path.</summary>
    public IEnumerable<TreeMount> Mounts => Parts.Mounts.Mounts;

    internal TreeParts Parts { get; }

    /// <summary>Mount of the partition that has a path.</summary>
    public string PartitionOf(string path) => Parts.Mounts.OwnerOf(path);

    public ZNode? Find(string path) => Parts.Nodes.Find(path);

    public ZooKeeperSession? FindSession(long id) => Parts.Sessions.Find(id);

    public FrontEnd? FindFrontEnd(long id) => Parts.FrontEnds.Find(id);

    /// <summary>Equal roots in equal order.</summary>
    public IEnumerable<ZooKeeperSession> AllSessions() => Parts.Sessions.Sessions();

    /// <summary>Nodes that an observer may reap once they are empty and their time has come.</summary>
    public IEnumerable<ZNode> ReapableNodes() => Parts.Reapable.Items().Select(path => Parts.Nodes.Find(path)!);

    /// <summary>All nodes at and below a path; none if it does not exist. Parents stand before their
    /// children.</summary>
    public IEnumerable<ZNode> Subtree(string path) => Parts.Nodes.Subtree(path);
}
