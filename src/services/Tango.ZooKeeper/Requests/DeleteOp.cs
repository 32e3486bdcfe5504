namespace Tango.ZooKeeper;

/// <summary>Deletes a node without children.</summary>
/// <param name="Version">That the node must have; -1: any.</param>
public sealed record DeleteOp(string Path, int Version) : NodeOp
{
    internal override int Mutator => Mutators.Delete;

    internal override int? PartNumber => 2;

    internal override string Home => Path;

    private string Parent => NodePath.ParentOf(Path) ?? NodePath.Root;

    internal override OpResult DecideNode(WorkingTree tree)
    {
        if (NodePath.ParentOf(Path) is not { } parentPath || NodePath.IsSpecial(Path)
            || tree.Mounts.Has(Path))
            return Failed(ZooKeeperError.BadArguments);
        if (tree.Find(parentPath) is not { } parent) return Failed(ZooKeeperError.NoNode);
        if (!tree.IsPermitted(parent, Permissions.Delete)) return Failed(ZooKeeperError.NoAuth);
        if (tree.Find(Path) is not { } node) return Failed(ZooKeeperError.NoNode);
        if (!VersionIs(Version, node.Version)) return Failed(ZooKeeperError.BadVersion);
        if (node.ChildCount > 0) return Failed(ZooKeeperError.NotEmpty);

        tree.Remove(node);
        return OpResult.Done;
    }

    internal override IEnumerable<ObjectKey> Writes() => [TreeKeys.Children(Parent), TreeKeys.Node(Path)];

    internal override IEnumerable<ObjectKey> Reads() =>
        [TreeKeys.Node(Parent), TreeKeys.Node(Path), TreeKeys.Children(Path)];

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteRequiredText(Path);
        writer.Write(Version);
    }

    internal static DeleteOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new DeleteOp(reader.RequireText(), reader.ReadInt32());
    }
}
