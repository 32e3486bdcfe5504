namespace Tango.ZooKeeper;

/// <summary>A condition in a multi: the node is there and has the version.</summary>
/// <param name="Version">-1: any.</param>
public sealed record CheckOp(string Path, int Version) : NodeOp
{
    // Clients send it in a multi only.
    internal override int Mutator => throw new InvalidOperationException("A check is no request of its own");

    internal override int? PartNumber => 13;

    internal override string Home => Path;

    internal override OpResult DecideNode(WorkingTree tree)
    {
        if (!NodePath.IsValid(Path)) return Failed(ZooKeeperError.BadArguments);
        if (tree.Find(Path) is not { } node) return Failed(ZooKeeperError.NoNode);
        if (!tree.IsPermitted(node, Permissions.Read)) return Failed(ZooKeeperError.NoAuth);
        return VersionIs(Version, node.Version) ? OpResult.Done : Failed(ZooKeeperError.BadVersion);
    }

    internal override IEnumerable<ObjectKey> Writes() => [TreeKeys.Node(Path)];

    internal override IEnumerable<ObjectKey> Reads() => [TreeKeys.Node(Path)];

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteRequiredText(Path);
        writer.Write(Version);
    }

    internal static CheckOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new CheckOp(reader.RequireText(), reader.ReadInt32());
    }
}
