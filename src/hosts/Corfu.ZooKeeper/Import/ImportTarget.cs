using Corfu.ZooKeeper.Hosting;

namespace Corfu.ZooKeeper.Import;

/// <summary>The tree that becomes like the server's: a node is read and written in its partition.</summary>
internal sealed class ImportTarget
{
    private readonly TreePartitions _partitions;

    private ImportTarget(TreePartitions partitions) => _partitions = partitions;

    /// <summary>Opens a tree with all its partitions.</summary>
    public static async ValueTask<ImportTarget> OpenAsync(
        TangoRuntime runtime, string service, CancellationToken cancellationToken)
    {
        var tree = await TreeOpening.OpenAsync(runtime, service, cancellationToken).ConfigureAwait(false);
        return new ImportTarget(TreePartitions.Of(runtime, service, tree));
    }

    /// <summary>The newest states. What is mounted behind them is refused when it is written.</summary>
    public async ValueTask<ImportRoots> ReadAsync(CancellationToken cancellationToken)
    {
        var root = await _partitions.Root.ReadAsync(cancellationToken).ConfigureAwait(false);
        await _partitions.RefreshAsync(root, cancellationToken).ConfigureAwait(false);
        await _partitions.HostAsync(root.Mounts.Select(static mount => mount.Path), cancellationToken)
            .ConfigureAwait(false);
        var others = new Dictionary<string, TreeRoot>();
        foreach (var (mount, tree) in _partitions.Hosted.Where(static pair => pair.Key != NodePath.Root))
            others.Add(mount, await tree.ReadAsync(cancellationToken).ConfigureAwait(false));
        return new ImportRoots(root, others);
    }

    /// <param name="mount">The partition's, as <see cref="ImportRoots"/> told it.</param>
    public ValueTask<TreeResult> UpdateAsync(string mount, TreeRecord record, CancellationToken cancellationToken) =>
        _partitions.Find(mount)!.UpdateAsync(record, cancellationToken);
}

/// <summary>States of all partitions of a tree.</summary>
/// <param name="others">By mount.</param>
internal sealed class ImportRoots(TreeRoot root, IReadOnlyDictionary<string, TreeRoot> others)
{
    /// <summary>Mount of the partition that has a path.</summary>
    public string PartitionOf(string path) => root.PartitionOf(path);

    public ZNode? Find(string path) => others.GetValueOrDefault(PartitionOf(path), root).Find(path);

    /// <summary>All nodes at and below a path, each from its partition.</summary>
    public IEnumerable<ZNode> Subtree(string path) => others.Values.Prepend(root).SelectMany(part =>
        // The partition of a mount holds nodes above it, and the partition above has a node in its place.
        part.Subtree(path).Where(node => PartitionOf(node.Path) == part.Home));
}
