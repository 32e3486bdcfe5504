namespace Tango.ZooKeeper;

/// <summary>Creates a node.</summary>
/// <param name="Acl">As the client sent it; default: null.</param>
/// <param name="Flags">As the client sent them: see <see cref="CreateFlags"/>.</param>
/// <param name="Ttl">Time to live of <see cref="CreateKind.Ttl"/>, in ms; else not looked at.</param>
public sealed record CreateOp(
    string Path, byte[]? Data, ImmutableArray<AclEntry> Acl, CreateFlags Flags, CreateKind Kind = CreateKind.Plain,
    long Ttl = 0) : NodeOp
{
    private const int Fields = 6;

    internal override int Mutator => Mutators.Create;

    internal override int? PartNumber => 1;

    // A name that is not complete may be another partition's; the parent's children are in one.
    internal override string Home => Parent;

    private string Parent => NodePath.ParentOf(Path) ?? NodePath.Root;

    private bool IsSequential => Flags
        is CreateFlags.Sequential or CreateFlags.EphemeralSequential or CreateFlags.TtlSequential;

    private bool IsEphemeral => Kind == CreateKind.Plain
        && Flags is CreateFlags.Ephemeral or CreateFlags.EphemeralSequential;

    private bool IsTtl => Flags is CreateFlags.Ttl or CreateFlags.TtlSequential;

    internal override OpResult DecideNode(WorkingTree tree)
    {
        var error = CheckFlags(tree);
        if (error != ZooKeeperError.Ok) return Failed(error);
        if (NodePath.ParentOf(Path) is not { } parentPath) return Failed(ZooKeeperError.BadArguments);
        if (AclRules.Resolve(Acl, tree.CallerIds) is not { } acl) return Failed(ZooKeeperError.InvalidAcl);
        if (tree.Find(parentPath) is not { } parent) return Failed(ZooKeeperError.NoNode);
        if (!tree.IsPermitted(parent, Permissions.Create)) return Failed(ZooKeeperError.NoAuth);
        var path = IsSequential ? Path + NodePath.SuffixOf(parent.Creates) : Path;
        if (!NodePath.IsValid(path)) return Failed(ZooKeeperError.BadArguments);
        if (tree.Find(path) is not null) return Failed(ZooKeeperError.NodeExists);
        if (NodeOwner.IsSession(parent.Owner)) return Failed(ZooKeeperError.NoChildrenForEphemerals);
        if (!tree.IsWithinQuota(path, 1, Data?.Length ?? 0)) return Failed(ZooKeeperError.QuotaExceeded);
        if (!tree.MayMeasureFor(path)) return Failed(ZooKeeperError.BadArguments);

        var node = tree.Add(path, Data, acl, OwnerFor(tree), parent);
        return new OpResult(ZooKeeperError.Ok, path, node.Stat);
    }

    internal override IEnumerable<ObjectKey> Writes() =>
        [Planted.Is("create-forgets-its-parent") ? TreeKeys.Node(Path) : TreeKeys.Children(Parent)];

    internal override IEnumerable<ObjectKey> Reads() => [TreeKeys.Node(Parent), TreeKeys.Children(Parent)];

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.WriteRequiredText(Path);
        writer.WriteData(Data);
        writer.WriteAcl(Acl);
        writer.Write((int)Flags);
        writer.Write((int)Kind);
        writer.Write(Ttl);
    }

    internal static CreateOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new CreateOp(reader.RequireText(), reader.ReadData(), reader.ReadAcl(),
            (CreateFlags)reader.ReadInt32(), (CreateKind)reader.ReadInt32(), reader.ReadInt64());
    }

    private ZooKeeperError CheckFlags(WorkingTree tree)
    {
        if (!Enum.IsDefined(Flags) || !Enum.IsDefined(Kind)) return ZooKeeperError.BadArguments;
        if (IsTtl && (!tree.Settings.TtlNodes || Planted.Is("ttl-by-option"))) return ZooKeeperError.Unimplemented;
        if (IsTtl != (Kind == CreateKind.Ttl)) return ZooKeeperError.BadArguments;
        if (IsTtl && Ttl is < 1 or > NodeOwner.MaxTtl) return ZooKeeperError.BadArguments;
        // The program itself has no session that could own a node.
        return IsEphemeral && tree.CallerSession == 0 ? ZooKeeperError.BadArguments : ZooKeeperError.Ok;
    }

    private long OwnerFor(WorkingTree tree) => Kind switch
    {
        CreateKind.Container => NodeOwner.Container,
        CreateKind.Ttl => NodeOwner.Ttl(Ttl),
        _ => IsEphemeral ? tree.CallerSession : NodeOwner.None,
    };
}

/// <summary>ZooKeeper's flags of a create.</summary>
public enum CreateFlags
{
    Persistent = 0,
    Ephemeral = 1,
    Sequential = 2,
    EphemeralSequential = 3,
    Container = 4,
    Ttl = 5,
    TtlSequential = 6,
}

/// <summary>ZooKeeper's requests that create, which say more than the flags do: a container is one only if the request
/// of containers asks for it.</summary>
public enum CreateKind
{
    Plain = 1,
    Container = 19,
    Ttl = 21,
}
