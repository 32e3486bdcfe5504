using NodeMap = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.ZNode, Tango.ZooKeeper.NodeKeys>;
using PathSet = Tango.ZooKeeper.HashTrie<string, string, Tango.ZooKeeper.PathKeys>;

namespace Tango.ZooKeeper;

/// <summary>A root while one record changes it: the next root, if the record succeeds.</summary>
internal sealed partial class WorkingTree
{
    private readonly RequestHeader? _caller;
    private readonly AclCache _acls;
    private ulong _seed;
    private NodeMap _nodes;
    private PathSet _reapable;
    private long _dataBytes;
    private ImmutableArray<TreeChange>.Builder? _changes;

    public WorkingTree(TreeRoot before, long zxid, RequestHeader? caller)
    {
        (_caller, Zxid) = (caller, zxid);
        (_acls, _seed) = (before.Acls, before.Seed);
        (_nodes, _reapable, _dataBytes) = (before.Nodes, before.Reapable, before.DataBytes);
        (Level, Settings, Quotas) = (before.Level, before.Settings, before.Quotas);
        (Sessions, FrontEnds) = (before.Sessions, before.FrontEnds);
    }

    public long Zxid { get; }

    public int Level { get; set; }

    public TreeSettings Settings { get; set; }

    public SessionTable Sessions { get; set; }

    public FrontEndTable FrontEnds { get; set; }

    public QuotaTable Quotas { get; private set; }

    /// <summary>0: the program itself, or nobody.</summary>
    public long CallerSession => _caller?.Session ?? 0;

    public ImmutableArray<AuthId> CallerIds => _caller?.Ids ?? [];

    public ImmutableArray<TreeChange> Changes => _changes?.DrainToImmutable() ?? [];

    private long Time => _caller?.Time ?? 0;

    /// <summary>A new service, with the nodes that it always has.</summary>
    public void Begin(ulong seed, int level, TreeSettings settings)
    {
        var empty = new TreeRoot(seed);
        (_seed, _nodes, _reapable, Sessions) = (seed, empty.Nodes, empty.Reapable, empty.Sessions);
        (Level, Settings) = (level, settings);
        var root = new ZNode(NodePath.Root, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var service = new ZNode(NodePath.Service, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var quota = new ZNode(NodePath.Quota, [], AclList.Open, NodeOwner.None, zxid: 0, time: 0);
        var config = new ZNode(NodePath.Config, [], AclList.ReadOnly, NodeOwner.None, zxid: 0, time: 0);
        root.LoadChildren(ChildSet.From([service.Path], seed));
        service.LoadChildren(ChildSet.From([quota.Path, config.Path], seed));
        foreach (var node in (ReadOnlySpan<ZNode>)[root, service, quota, config])
        {
            _nodes = _nodes.Set(node);
            _dataBytes += node.Path.Length;
        }
    }

    public ZNode? Find(string path) => _nodes.Find(path);

    public bool IsPermitted(ZNode node, Permissions permission) =>
        AclRules.IsPermitted(node.Acl, permission, CallerIds);

    /// <param name="path">No node has it yet.</param>
    /// <param name="parent">The parent as it is now.</param>
    /// <returns>The node as it was created.</returns>
    public ZNode Add(string path, byte[]? data, AclList acl, long owner, ZNode parent)
    {
        var node = new ZNode(path, data, _acls.Share(acl), owner, Zxid, Time);
        _nodes = _nodes.Set(parent.WithChild(path, Zxid, _seed)).Set(node);
        _dataBytes += path.Length + node.DataLength;
        if (NodeOwner.IsSession(owner)) Sessions = Sessions.AddEphemeral(owner, path);
        else if (node.IsReapable) _reapable = _reapable.Set(path);
        Tell(TreeChangeKind.Created, path, node.Acl);
        Tell(TreeChangeKind.ChildrenChanged, parent.Path, parent.Acl);
        CountAdded(node);
        return node;
    }

    /// <param name="node">As it is: no root, and without children.</param>
    public void Remove(ZNode node)
    {
        var path = node.Path;
        var parent = _nodes.Find(NodePath.ParentOf(path)!)!;
        _nodes = _nodes.Set(parent.WithoutChild(path, Zxid)).Remove(path);
        _dataBytes -= path.Length + node.DataLength;
        if (NodeOwner.IsSession(node.Owner)) Sessions = Sessions.RemoveEphemeral(node.Owner, path);
        else if (node.IsReapable) _reapable = _reapable.Remove(path);
        Tell(TreeChangeKind.Deleted, path, node.Acl);
        Tell(TreeChangeKind.ChildrenChanged, parent.Path, parent.Acl);
        CountRemoved(node);
    }

    /// <param name="node">As it is.</param>
    /// <returns>The node as it was written.</returns>
    public ZNode SetData(ZNode node, byte[]? data)
    {
        var written = node.WithData(data, Zxid, Time);
        _nodes = _nodes.Set(written);
        _dataBytes += written.DataLength - node.DataLength;
        Tell(TreeChangeKind.DataChanged, node.Path, node.Acl);
        CountWritten(node.Path, written.DataLength - node.DataLength);
        return written;
    }

    /// <param name="node">As it is.</param>
    /// <returns>The node as it was written.</returns>
    public ZNode SetAcl(ZNode node, AclList acl)
    {
        var written = node.WithAcl(_acls.Share(acl));
        _nodes = _nodes.Set(written);
        return written;
    }

    /// <summary>Ends a session with all its ephemeral nodes, in the order of their paths (Z12).</summary>
    /// <param name="session">A session of the table.</param>
    public void End(ZooKeeperSession session)
    {
        Sessions = Sessions.Remove(session.Id);
        FrontEnds = FrontEnds.Leave(session.FrontEnd);
        foreach (var path in session.Ephemerals) Remove(_nodes.Find(path)!);
    }

    public TreeRoot ToRoot() => new(_seed)
    {
        Level = Level,
        Settings = Settings,
        LastZxid = Zxid,
        DataBytes = _dataBytes,
        Nodes = _nodes,
        Sessions = Sessions,
        FrontEnds = FrontEnds,
        Reapable = _reapable,
        Quotas = Quotas,
        Acls = _acls,
    };

    private void Tell(TreeChangeKind kind, string path, AclList acl) =>
        (_changes ??= ImmutableArray.CreateBuilder<TreeChange>(2)).Add(new TreeChange(kind, path, acl));
}
