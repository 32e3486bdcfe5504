namespace Tango.ZooKeeper;

/// <summary>Replaces a node's data.</summary>
/// <param name="Version">That the node must have; -1: any.</param>
public sealed record SetDataOp(string Path, byte[]? Data, int Version) : NodeOp
{
    internal override int Mutator => Mutators.SetData;

    internal override int? PartNumber => 5;

    internal override string Home => Path;

    internal override OpResult DecideNode(WorkingTree tree)
    {
        if (!NodePath.IsValid(Path)) return Failed(ZooKeeperError.BadArguments);
        if (tree.Find(Path) is not { } node) return Failed(ZooKeeperError.NoNode);
        if (!tree.IsPermitted(node, Permissions.Write)) return Failed(ZooKeeperError.NoAuth);
        if (!tree.IsWithinQuota(Path, 0, (Data?.Length ?? 0) - node.DataLength))
            return Failed(ZooKeeperError.QuotaExceeded);
        if (!VersionIs(Version, node.Version)) return Failed(ZooKeeperError.BadVersion);

        return new OpResult(ZooKeeperError.Ok, Stat: tree.SetData(node, Data).Stat);
    }

    internal override IEnumerable<ObjectKey> Writes() => [TreeKeys.Node(Path)];

    internal override IEnumerable<ObjectKey> Reads() => [TreeKeys.Node(Path)];

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(3);
        writer.WriteRequiredText(Path);
        writer.WriteData(Data);
        writer.Write(Version);
    }

    internal static SetDataOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(3);
        return new SetDataOp(reader.RequireText(), reader.ReadData(), reader.ReadInt32());
    }
}
