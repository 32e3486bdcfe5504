namespace Tango.ZooKeeper;

/// <summary>A root while one record changes it: the next root, if the record succeeds.</summary>
internal sealed partial class WorkingTree
{
    private readonly RequestHeader? _caller;
    private TreeParts _parts;
    private ImmutableArray<TreeChange>.Builder? _changes;

    // Rights of the caller on long lists: those that were looked up, and those among them that it has.
    private Dictionary<AclList, (Permissions Known, Permissions Has)>? _rights;

    public WorkingTree(TreeRoot before, long zxid, RequestHeader? caller) =>
        (_parts, _caller, Zxid, Time) = (before.Parts, caller, zxid, caller?.Time ?? 0);

    public long Zxid { get; }

    public int Level
    {
        get => _parts.Level;
        set => _parts.Level = value;
    }

    public TreeSettings Settings
    {
        get => _parts.Settings;
        set => _parts.Settings = value;
    }

    public SessionTable Sessions
    {
        get => _parts.Sessions;
        set => _parts.Sessions = value;
    }

    public FrontEndTable FrontEnds
    {
        get => _parts.FrontEnds;
        set => _parts.FrontEnds = value;
    }

    public MountTable Mounts
    {
        get => _parts.Mounts;
        set => _parts.Mounts = value;
    }

    /// <summary>The record is part of a transaction that has decided the request.</summary>
    public bool IsPart { get; set; }

    /// <summary>0: the program itself, or a record without a caller.</summary>
    public long CallerSession => _caller?.Session ?? 0;

    public ImmutableArray<AuthId> CallerIds => _caller?.Ids ?? [];

    public ImmutableArray<TreeChange> Changes => _changes?.DrainToImmutable() ?? [];

    /// <summary>Time of nodes that are written, in ms since 1970.</summary>
    public long Time { get; set; }

    /// <summary>A new service, with the nodes that it always has.</summary>
    public void Begin(ulong seed, int level, TreeSettings settings)
    {
        _parts = TreeParts.Empty(seed) with { Level = level, Settings = settings };
        var root = new ZNode(NodePath.Root, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var service = new ZNode(NodePath.Service, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var quota = new ZNode(NodePath.Quota, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var config = new ZNode(NodePath.Config, [], AclList.ReadOnly, NodeOwner.None, zxid: 0, time: 0);
        root.LoadChildren(ChildSet.From([service.Path], seed));
        service.LoadChildren(ChildSet.From([quota.Path, config.Path], seed));
        foreach (var node in (ReadOnlySpan<ZNode>)[root, service, quota, config])
        {
            _parts.Nodes = _parts.Nodes.Set(node);
            _parts.DataBytes += node.Path.Length;
        }
    }

    public ZNode? Find(string path) => _parts.Nodes.Find(path);

    /// <param name="permission">A single permission.</param>
    public bool IsPermitted(ZNode node, Permissions permission)
    {
        var acl = node.Acl;
        if (acl.Entries.Length <= AclCache.MaxEntries) return AclRules.IsPermitted(acl, permission, CallerIds);
        // A multi may ask for each of its parts.
        _rights ??= new Dictionary<AclList, (Permissions, Permissions)>(ReferenceEqualityComparer.Instance);
        var (known, has) = _rights.GetValueOrDefault(acl);
        if ((known & permission) == 0)
        {
            if (AclRules.IsPermitted(acl, permission, CallerIds)) has |= permission;
            _rights[acl] = (known | permission, has);
        }

        return (has & permission) != 0;
    }

    /// <param name="path">No node has it yet.</param>
    /// <param name="parent">The parent as it is now.</param>
    /// <returns>The node as it was created.</returns>
    public ZNode Add(string path, byte[]? data, AclList acl, long owner, ZNode parent)
    {
        var node = new ZNode(path, data, _parts.Acls.Share(acl), owner, Zxid, Time);
        var holder = parent.WithChild(path, Zxid, _parts.Seed);
        if (Planted.Is("root-in-place")) parent.LoadChildren(holder.Children);
        _parts.Nodes = _parts.Nodes.Set(holder).Set(node);
        _parts.DataBytes += path.Length + node.DataLength;
        if (NodeOwner.IsSession(owner)) Sessions = Sessions.AddEphemeral(owner, path);
        else if (node.IsReapable) _parts.Reapable = _parts.Reapable.Set(path);
        Tell(TreeChangeKind.Created, path, node.Acl);
        Tell(TreeChangeKind.ChildrenChanged, parent.Path, parent.Acl);
        CountAdded(node);
        return node;
    }

    /// <param name="node">As it is: no root, and without children.</param>
    public void Remove(ZNode node)
    {
        var path = node.Path;
        var parent = _parts.Nodes.Find(NodePath.ParentOf(path)!)!;
        _parts.Nodes = _parts.Nodes.Set(parent.WithoutChild(path, Zxid)).Remove(path);
        _parts.DataBytes -= path.Length + node.DataLength;
        if (NodeOwner.IsSession(node.Owner)) Sessions = Sessions.RemoveEphemeral(node.Owner, path);
        else if (node.IsReapable) _parts.Reapable = _parts.Reapable.Remove(path);
        Tell(TreeChangeKind.Deleted, path, node.Acl);
        Tell(TreeChangeKind.ChildrenChanged, parent.Path, parent.Acl);
        CountRemoved(node);
    }

    /// <param name="node">As it is.</param>
    /// <returns>The node as it was written.</returns>
    public ZNode SetData(ZNode node, byte[]? data)
    {
        var written = node.WithData(data, Zxid, Time);
        _parts.Nodes = _parts.Nodes.Set(written);
        _parts.DataBytes += written.DataLength - node.DataLength;
        Tell(TreeChangeKind.DataChanged, node.Path, node.Acl);
        CountWritten(written, written.DataLength - node.DataLength);
        return written;
    }

    /// <param name="node">As it is.</param>
    /// <returns>The node as it was written.</returns>
    public ZNode SetAcl(ZNode node, AclList acl)
    {
        var written = node.WithAcl(_parts.Acls.Share(acl));
        _parts.Nodes = _parts.Nodes.Set(written);
        return written;
    }

    /// <summary>Ends a session with all its ephemeral nodes, in the order of their paths (Z12).</summary>
    /// <param name="session">A session of the table.</param>
    public void End(ZooKeeperSession session)
    {
        Sessions = Sessions.Remove(session.Id);
        FrontEnds = FrontEnds.Leave(session.FrontEnd);
        foreach (var path in session.Ephemerals)
        {
            if (Planted.Is("close-leaves-nodes") && path == session.Ephemerals.Max) continue;
            Remove(_parts.Nodes.Find(path)!);
        }
    }

    public TreeRoot ToRoot() => new(_parts with { LastZxid = Zxid });

    private void Tell(TreeChangeKind kind, string path, AclList acl) =>
        (_changes ??= ImmutableArray.CreateBuilder<TreeChange>(2)).Add(new TreeChange(kind, path, acl));
}
