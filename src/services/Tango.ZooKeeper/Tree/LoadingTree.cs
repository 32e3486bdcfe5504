using NodeMap = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.ZNode, Tango.ZooKeeper.NodeKeys>;
using PathSet = Tango.ZooKeeper.HashTrie<string, string, Tango.ZooKeeper.PathKeys>;

namespace Tango.ZooKeeper;

/// <summary>A root while a checkpoint is read.</summary>
internal sealed class LoadingTree
{
    private readonly List<AclList> _acls = [];
    private readonly List<ZNode> _nodes = [];
    private readonly Dictionary<long, ZooKeeperSession> _sessions = [];
    private readonly List<(string Path, QuotaUsage Usage)> _usages = [];
    private readonly AclCache _cache = new();
    private FrontEndTable _frontEnds = FrontEndTable.Empty;
    private long _dataBytes;

    public int Level { get; set; }

    public ulong Seed { get; set; }

    public TreeSettings Settings { get; set; } = new();

    public long LastZxid { get; set; }

    public MountTable Mounts { get; set; } = MountTable.None;

    public void Add(AclList acl) => _acls.Add(_cache.Share(acl));

    public void Add(FrontEnd row) => _frontEnds = _frontEnds.Set(row);

    public void Add(ZooKeeperSession session)
    {
        if (!_sessions.TryAdd(session.Id, session)) throw Damage($"Session {session.Id:x} stands twice");
        if (_frontEnds.Find(session.FrontEnd) is null)
            throw Damage($"Session {session.Id:x} is attached to no front end");
        _frontEnds = _frontEnds.Enter(session.FrontEnd);
    }

    public void AddQuota(string path, QuotaUsage usage) => _usages.Add((path, usage));

    public void Add(string path, byte[]? data, int acl, long owner, in NodeCounters counters)
    {
        if (!NodePath.IsValid(path)) throw Damage($"'{path}' is no path of a node");
        if ((uint)acl >= (uint)_acls.Count) throw Damage($"'{path}' has list {acl} of {_acls.Count}");
        _nodes.Add(new ZNode(path, data, _acls[acl], owner, counters));
        _dataBytes += path.Length + (data?.Length ?? 0);
    }

    /// <exception cref="TangoFormatException">The nodes are no tree.</exception>
    public TreeRoot ToRoot()
    {
        if (Level == 0) return new TreeRoot(TreeRoot.NotBegun.Parts with { LastZxid = LastZxid });
        NodeMap nodes;
        try
        {
            nodes = NodeMap.From(_nodes, Seed);
        }
        catch (ArgumentException e)
        {
            throw new TangoFormatException("A node stands twice", e);
        }

        LinkChildren(nodes);
        LinkEphemerals();
        var reapable = _nodes.Where(static node => node.IsReapable).Select(static node => node.Path);
        return new TreeRoot(new TreeParts(
            Seed, Level, Settings, LastZxid, nodes, _dataBytes, SessionTable.From(_sessions.Values, Seed), _frontEnds,
            PathSet.From([.. reapable], Seed), Quotas(nodes), _cache, Mounts));
    }

    private void LinkChildren(NodeMap nodes)
    {
        var children = new Dictionary<string, List<string>>(StringComparer.Ordinal);
        var byParent = children.GetAlternateLookup<ReadOnlySpan<char>>();
        foreach (var node in _nodes)
        {
            if (node.Path == NodePath.Root) continue;
            var parent = node.Path.AsSpan(0, Math.Max(1, node.Path.LastIndexOf('/')));
            if (!byParent.TryGetValue(parent, out var paths)) byParent[parent] = paths = [];
            paths.Add(node.Path);
        }

        if (nodes.Find(NodePath.Root) is null) throw Damage("The root is missing");
        foreach (var (parent, paths) in children)
        {
            var node = nodes.Find(parent) ?? throw Damage($"The parent of '{paths[0]}' is missing");
            node.LoadChildren(ChildSet.From(paths, Seed));
        }
    }

    private void LinkEphemerals()
    {
        var owned = _nodes.Where(static node => NodeOwner.IsSession(node.Owner)).GroupBy(static node => node.Owner);
        foreach (var nodes in owned)
        {
            if (!_sessions.TryGetValue(nodes.Key, out var session))
                throw Damage($"Session {nodes.Key:x} owns '{nodes.First().Path}' and is missing");
            _sessions[nodes.Key] = session with
            {
                Ephemerals = ZooKeeperSession.NoEphemerals.Union(nodes.Select(static node => node.Path)),
            };
        }
    }

    private QuotaTable Quotas(NodeMap nodes)
    {
        var quotas = QuotaTable.Empty;
        foreach (var (path, usage) in _usages)
        {
            var limits = nodes.Find(QuotaTable.LimitsOf(path)) is { } node
                ? QuotaLimits.Parse(node.RawData)
                : QuotaLimits.None;
            quotas = quotas.Set(path, new PathQuota(usage, limits));
        }

        return quotas;
    }

    private static TangoFormatException Damage(string message) => new(message);
}
