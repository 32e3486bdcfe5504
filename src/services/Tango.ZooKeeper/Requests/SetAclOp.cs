namespace Tango.ZooKeeper;

/// <summary>Replaces a node's access control list.</summary>
/// <param name="Acl">As the client sent it; default: null.</param>
/// <param name="Version">Version of the list that the node must have; -1: any.</param>
public sealed record SetAclOp(string Path, ImmutableArray<AclEntry> Acl, int Version) : NodeOp
{
    internal override int Mutator => Mutators.SetAcl;

    internal override int? PartNumber => null;

    internal override string Home => Path;

    internal override OpResult DecideNode(WorkingTree tree)
    {
        if (!NodePath.IsValid(Path)) return Failed(ZooKeeperError.BadArguments);
        if (AclRules.Resolve(Acl, tree.CallerIds) is not { } acl) return Failed(ZooKeeperError.InvalidAcl);
        if (tree.Find(Path) is not { } node) return Failed(ZooKeeperError.NoNode);
        if (!tree.IsPermitted(node, Permissions.Admin)) return Failed(ZooKeeperError.NoAuth);
        if (!VersionIs(Version, node.Aversion)) return Failed(ZooKeeperError.BadVersion);

        return new OpResult(ZooKeeperError.Ok, Stat: tree.SetAcl(node, acl).Stat);
    }

    internal override IEnumerable<ObjectKey> Writes() => [TreeKeys.Node(Path)];

    internal override IEnumerable<ObjectKey> Reads() => [TreeKeys.Node(Path)];

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(3);
        writer.WriteRequiredText(Path);
        writer.WriteAcl(Acl);
        writer.Write(Version);
    }

    internal static SetAclOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(3);
        return new SetAclOp(reader.RequireText(), reader.ReadAcl(), reader.ReadInt32());
    }
}
