using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary>A tree as it was, with all its partitions: each is read once it is asked for.</summary>
internal sealed class PastTree(TangoHistory history, string service)
{
    private readonly Dictionary<string, TreeRoot> _roots = [];

    public LogPosition At => history.Position;

    public async Task<ZNode?> FindAsync(string path, CancellationToken cancellationToken)
    {
        var root = await ReadAsync(NodePath.Root, cancellationToken);
        return (await ReadAsync(root.PartitionOf(path), cancellationToken)).Find(path);
    }

    /// <summary>All nodes at and below a path, in the order of their paths.</summary>
    public async Task<IEnumerable<ZNode>> SubtreeAsync(string path, CancellationToken cancellationToken)
    {
        var root = await ReadAsync(NodePath.Root, cancellationToken);
        var own = await ReadAsync(root.PartitionOf(path), cancellationToken);
        // A mount stands in two partitions, and is read in its own.
        var nodes = own.Subtree(path).Where(node => root.PartitionOf(node.Path) == own.Home).ToList();
        var above = path == NodePath.Root ? path : path + "/";
        foreach (var mount in root.Mounts.Where(mount => mount.Path.StartsWith(above, StringComparison.Ordinal)))
        {
            var partition = await ReadAsync(mount.Path, cancellationToken);
            nodes.AddRange(partition.Subtree(mount.Path).Where(node => root.PartitionOf(node.Path) == mount.Path));
        }

        return nodes.OrderBy(static node => node.Path, StringComparer.Ordinal);
    }

    private async Task<TreeRoot> ReadAsync(string mount, CancellationToken cancellationToken)
    {
        if (_roots.TryGetValue(mount, out var known)) return known;
        var name = mount == NodePath.Root
            ? TreePartitions.NameOf(service)
            : _roots[NodePath.Root].Mounts.First(row => row.Path == mount).ObjectName;
        var tree = await history.OpenAsync<ZooKeeperTree>(name, cancellationToken);
        return _roots[mount] = await tree.ReadAsync(cancellationToken);
    }
}
