using Corfu.ZooKeeper.Wire;
using Tango.ZooKeeper;

namespace Corfu.ZooKeeper.Serving;

/// <summary>States of the partitions that a front end plays, behind one record.</summary>
/// <param name="Root">State of the root partition.</param>
/// <param name="Others">States of the other partitions, by mount.</param>
/// <param name="LastZxid">Zxid of the newest record of any partition.</param>
internal readonly record struct ServedRoots(
    TreeRoot Root, IReadOnlyDictionary<string, TreeRoot> Others, long LastZxid)
{
    public IEnumerable<TreeRoot> All => Others.Values.Prepend(Root);

    /// <summary>State of a path's partition; the root partition's, which lacks the node, where it is not played
    /// here.</summary>
    public TreeRoot For(string path)
    {
        if (Root.MountCount == 0) return Root;
        return Others.GetValueOrDefault(Root.PartitionOf(path)) ?? Root;
    }

    public ZNode? Find(string path) => For(path).Find(path);

    /// <summary>Nodes at and below a path. A mount stands in two partitions.</summary>
    public int CountBelow(string path)
    {
        // Monitors ask for the whole tree, whose count is kept.
        var own = path == NodePath.Root && Root.MountCount == 0 ? Root.NodeCount : For(path).Subtree(path).Count();
        if (Root.MountCount == 0) return own;
        foreach (var mount in MountsBelow(Root, path))
            own += (Others.GetValueOrDefault(mount)?.Subtree(mount).Count() ?? 1) - 1;
        return own;
    }

    /// <summary>Mounts strictly below a path.</summary>
    public static IEnumerable<string> MountsBelow(TreeRoot root, string path) =>
        root.Mounts.Select(static mount => mount.Path).Where(mount => mount.Length > path.Length
            && (path == NodePath.Root || mount.StartsWith(path + "/", StringComparison.Ordinal)));

    /// <summary>Mounts of the partitions that a request concerns; none for a request that any partition
    /// answers.</summary>
    public static IEnumerable<string> MountsOf(TreeRoot root, ClientRequest? request) => request switch
    {
        WriteRequest write => TreePartitions.PartitionsOf(root, write.Op),
        MultiRequest multi => TreePartitions.PartitionsOf(root, multi.Op),
        NodeRequest { Code: OpCode.Sync } => [],
        NodeRequest { Code: OpCode.GetEphemerals } => root.Mounts.Select(static mount => mount.Path),
        NodeRequest { Code: OpCode.GetAllChildrenNumber } count => AtAndBelow(root, count.Path),
        NodeRequest node => [root.PartitionOf(node.Path)],
        MultiReadRequest reads => reads.Parts.Select(part => root.PartitionOf(part.Path)),
        WatchRequest { Code: OpCode.AddWatch } watch => AtAndBelow(root, watch.Path),
        SetWatchesRequest watches => watches.Data.Concat(watches.Exist).Concat(watches.Child)
            .Concat(watches.Persistent).Select(root.PartitionOf)
            .Concat(watches.Recursive.SelectMany(path => AtAndBelow(root, path))),
        _ => [],
    };

    private static IEnumerable<string> AtAndBelow(TreeRoot root, string path) =>
        MountsBelow(root, path).Prepend(root.PartitionOf(path));
}
