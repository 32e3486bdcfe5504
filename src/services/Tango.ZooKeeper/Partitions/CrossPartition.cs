namespace Tango.ZooKeeper;

/// <summary>
/// A multi whose requests are of several partitions: one Tango transaction. The requests are decided on a snapshot; a
/// part for each partition is written if they all succeed. All that decides is read, by keys that do not hang on what
/// Apply computes, so that a part cannot fail where its transaction commits (Z15).
/// </summary>
internal sealed class CrossPartition(RequestHeader header, MultiOp multi, MountTable mounts)
{
    /// <summary>The partitions of the requests, each once; by mount.</summary>
    public static ImmutableSortedSet<string> PartitionsOf(MultiOp multi, MountTable mounts) =>
        multi.Parts.Select(part => mounts.OwnerOf(part.Home)).ToImmutableSortedSet(StringComparer.Ordinal);

    /// <summary>Decides on the transaction's snapshot, and writes the parts.</summary>
    /// <param name="trees">Handles that belong to the transaction, by mount.</param>
    /// <returns>The failure; null: the parts are written.</returns>
    public async ValueTask<TreeResult?> RunAsync(
        IReadOnlyDictionary<string, ZooKeeperTree> trees, CancellationToken cancellationToken)
    {
        var working = new Dictionary<string, WorkingTree>();
        foreach (var (mount, tree) in trees)
        {
            // The session ends, or moves, in all partitions at once.
            var root = await tree.ReadForAsync(TreeKeys.Session(header.Session), cancellationToken);
            if (root.Parts.Mounts.Count != mounts.Count) return TreeResult.Of(ZooKeeperError.OperationTimeout);
            if (header.Session != 0 && root.Parts.Sessions.Check(header.Session, header.Attachment) is var error
                && error != ZooKeeperError.Ok) return TreeResult.Of(error);
            working.Add(mount, new WorkingTree(root, Zxid.Pending, header));
        }

        for (var i = 0; i < multi.Parts.Length; i++)
        {
            var part = multi.Parts[i];
            var result = part.DecideNode(working[mounts.OwnerOf(part.Home)]);
            if (result.Error != ZooKeeperError.Ok) return multi.FailedAt(i, result.Error);
        }

        foreach (var (mount, tree) in trees)
        {
            var indexes = Enumerable.Range(0, multi.Parts.Length)
                .Where(i => mounts.OwnerOf(multi.Parts[i].Home) == mount).ToImmutableArray();
            var ops = indexes.Select(i => multi.Parts[i]).ToImmutableArray();
            await tree.ReadForAsync(TreeKeys.All(ops.SelectMany(static op => op.Reads())), cancellationToken);
            await tree.WriteAsync(
                new RequestRecord(header, new PartOp(ops, indexes, multi.Parts.Length)), cancellationToken);
        }

        return null;
    }
}
