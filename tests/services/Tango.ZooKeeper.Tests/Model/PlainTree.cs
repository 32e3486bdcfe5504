using System.Globalization;

namespace Tango.ZooKeeper.Tests;

/// <summary>
/// ZooKeeper's rules written plainly: nodes in a dictionary that is changed in place, children found by looking at
/// every path. Nothing of the product but its values is used.
/// </summary>
internal sealed class PlainTree
{
    private const string Limits = "/zookeeper_limits";
    private const string Stats = "/zookeeper_stats";

    private long _zxid;
    private Caller _caller = new(0, 0, 0, []);

    public PlainTree()
    {
        foreach (var path in (string[])["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"])
        {
            Nodes[path] = new PlainNode
            {
                Data = [],
                Acl = [new AclEntry(path.EndsWith("config", StringComparison.Ordinal)
                    ? Permissions.Read : Permissions.All, "world", "anyone")],
            };
        }
    }

    public SortedDictionary<string, PlainNode> Nodes { get; private set; } = new(StringComparer.Ordinal);

    public Dictionary<long, PlainSession> Sessions { get; } = [];

    public Dictionary<long, PlainFrontEnd> FrontEnds { get; } = [];

    public bool TtlNodes { get; set; }

    public bool EnforceQuota { get; set; }

    /// <summary>Events of the newest record.</summary>
    public List<(TreeChangeKind Kind, string Path)> Changes { get; private set; } = [];

    private Dictionary<string, (long Count, long Bytes)> Quotas { get; set; } = [];

    public void StartRecord(long zxid, Caller caller) => (_zxid, _caller, Changes) = (zxid, caller, []);

    public ZooKeeperError CheckSession()
    {
        if (_caller.Session == 0) return ZooKeeperError.Ok;
        if (!Sessions.TryGetValue(_caller.Session, out var session)) return ZooKeeperError.SessionExpired;
        return session.Attachment == _caller.Attachment ? ZooKeeperError.Ok : ZooKeeperError.SessionMoved;
    }

    public IEnumerable<string> ChildrenOf(string path) =>
        Nodes.Keys.Where(other => other != "/" && ParentOf(other) == path);

    public IEnumerable<string> OwnedBy(long session) => Nodes.Where(n => n.Value.Owner == session).Select(n => n.Key);

    public NodeStat StatOf(string path)
    {
        var node = Nodes[path];
        var children = ChildrenOf(path).Count();
        return new NodeStat(node.Czxid, node.Mzxid, node.Pzxid, node.Ctime, node.Mtime, node.Version,
            2 * node.Creates - children, node.Aversion, Math.Max(0, node.Owner), node.Data?.Length ?? 0, children);
    }

    public OpResult Run(NodeOp op) => op switch
    {
        CreateOp create => Create(create),
        DeleteOp delete => Delete(delete),
        SetDataOp set => SetData(set),
        SetAclOp set => SetAcl(set),
        CheckOp check => Check(check),
        _ => throw new InvalidOperationException(op.ToString()),
    };

    public MultiResult RunMulti(MultiOp multi)
    {
        var nodes = Nodes.ToDictionary(n => n.Key, n => n.Value.Copy());
        var quotas = Quotas.ToDictionary();
        var results = new List<OpResult>();
        foreach (var part in multi.Parts)
        {
            var result = Run(part);
            if (result.Error == ZooKeeperError.Ok)
            {
                results.Add(result);
                continue;
            }

            (Nodes, Quotas) = (new SortedDictionary<string, PlainNode>(nodes, StringComparer.Ordinal), quotas);
            Changes = [];
            return new MultiResult(result.Error, [
                .. results.Select(_ => new OpResult(ZooKeeperError.Ok)), new OpResult(result.Error),
                .. multi.Parts.Skip(results.Count + 1)
                    .Select(_ => new OpResult(ZooKeeperError.RuntimeInconsistency)),
            ]);
        }

        return new MultiResult(ZooKeeperError.Ok, [.. results]);
    }

    public void End(long session)
    {
        string[] owned = [.. OwnedBy(session)];
        Sessions.Remove(session);
        foreach (var path in owned) Remove(path);
        DropEmptyFrontEnds();
    }

    public void DropEmptyFrontEnds()
    {
        foreach (var (id, row) in FrontEnds.ToArray())
        {
            if (row.IsDown && Sessions.Values.All(session => session.FrontEnd != id)) FrontEnds.Remove(id);
        }
    }

    public void Remove(string path)
    {
        var node = Nodes[path];
        Nodes.Remove(path);
        Nodes[ParentOf(path)!].Pzxid = _zxid;
        Changes.Add((TreeChangeKind.Deleted, path));
        Changes.Add((TreeChangeKind.ChildrenChanged, ParentOf(path)!));
        if (QuotaOf(path, Limits) is { } limited) Quotas.Remove(limited);
        Count(path, -1, -(node.Data?.Length ?? 0));
    }

    private OpResult Create(CreateOp op)
    {
        var flags = (int)op.Flags;
        if (flags is < 0 or > 6) return new OpResult(ZooKeeperError.BadArguments);
        if (flags >= 5 && !TtlNodes) return new OpResult(ZooKeeperError.Unimplemented);
        if (flags >= 5 != (op.Kind == CreateKind.Ttl)) return new OpResult(ZooKeeperError.BadArguments);
        if (flags >= 5 && (op.Ttl <= 0 || op.Ttl >= 1L << 40)) return new OpResult(ZooKeeperError.BadArguments);
        var isEphemeral = op.Kind == CreateKind.Plain && (flags is 1 or 3);
        if (isEphemeral && _caller.Session == 0) return new OpResult(ZooKeeperError.BadArguments);
        if (ParentOf(op.Path) is not { } parent) return new OpResult(ZooKeeperError.BadArguments);
        if (Resolve(op.Acl) is not { } acl) return new OpResult(ZooKeeperError.InvalidAcl);
        if (!Nodes.TryGetValue(parent, out var above)) return new OpResult(ZooKeeperError.NoNode);
        if (!May(above, Permissions.Create)) return new OpResult(ZooKeeperError.NoAuth);
        var path = flags is 2 or 3 or 6
            ? op.Path + above.Creates.ToString("0000000000", CultureInfo.InvariantCulture)
            : op.Path;
        if (!IsValid(path)) return new OpResult(ZooKeeperError.BadArguments);
        if (Nodes.ContainsKey(path)) return new OpResult(ZooKeeperError.NodeExists);
        if (above.Owner > 0) return new OpResult(ZooKeeperError.NoChildrenForEphemerals);
        if (IsBeyondQuota(path, 1, op.Data?.Length ?? 0)) return new OpResult(ZooKeeperError.QuotaExceeded);

        Nodes[path] = new PlainNode
        {
            Data = op.Data,
            Acl = acl,
            Owner = op.Kind switch
            {
                CreateKind.Container => long.MinValue,
                CreateKind.Ttl => op.Ttl - (1L << 56),
                _ => isEphemeral ? _caller.Session : 0,
            },
            Czxid = _zxid,
            Mzxid = _zxid,
            Pzxid = _zxid,
            Ctime = _caller.Time,
            Mtime = _caller.Time,
        };
        above.Creates++;
        above.Pzxid = _zxid;
        var stat = StatOf(path);
        Changes.Add((TreeChangeKind.Created, path));
        Changes.Add((TreeChangeKind.ChildrenChanged, parent));
        Count(path, 1, op.Data?.Length ?? 0);
        if (QuotaOf(path, Limits) is { } limited)
        {
            var counted = Nodes.Where(n => IsWithin(n.Key, limited))
                .Select(n => (long)(n.Value.Data?.Length ?? 0)).ToArray();
            Show(limited, (counted.Length, counted.Sum()));
        }
        else if (QuotaOf(path, Stats) is { } shown && Quotas.TryGetValue(shown, out var use))
        {
            Show(shown, use);
        }

        return new OpResult(ZooKeeperError.Ok, path, stat);
    }

    private OpResult Delete(DeleteOp op)
    {
        if (ParentOf(op.Path) is not { } parent
            || op.Path is "/" or "/zookeeper" or "/zookeeper/quota" or "/zookeeper/config")
            return new OpResult(ZooKeeperError.BadArguments);
        if (!Nodes.TryGetValue(parent, out var above)) return new OpResult(ZooKeeperError.NoNode);
        if (!May(above, Permissions.Delete)) return new OpResult(ZooKeeperError.NoAuth);
        if (!Nodes.TryGetValue(op.Path, out var node)) return new OpResult(ZooKeeperError.NoNode);
        if (op.Version != -1 && op.Version != node.Version) return new OpResult(ZooKeeperError.BadVersion);
        if (ChildrenOf(op.Path).Any()) return new OpResult(ZooKeeperError.NotEmpty);
        Remove(op.Path);
        return new OpResult(ZooKeeperError.Ok);
    }

    private OpResult SetData(SetDataOp op)
    {
        if (!IsValid(op.Path)) return new OpResult(ZooKeeperError.BadArguments);
        if (!Nodes.TryGetValue(op.Path, out var node)) return new OpResult(ZooKeeperError.NoNode);
        if (!May(node, Permissions.Write)) return new OpResult(ZooKeeperError.NoAuth);
        var more = (op.Data?.Length ?? 0) - (node.Data?.Length ?? 0);
        if (IsBeyondQuota(op.Path, 0, more)) return new OpResult(ZooKeeperError.QuotaExceeded);
        if (op.Version != -1 && op.Version != node.Version) return new OpResult(ZooKeeperError.BadVersion);
        (node.Data, node.Mzxid, node.Mtime) = (op.Data, _zxid, Math.Max(node.Ctime, _caller.Time));
        node.Version++;
        var stat = StatOf(op.Path);
        Changes.Add((TreeChangeKind.DataChanged, op.Path));
        if (more != 0) Count(op.Path, 0, more);
        return new OpResult(ZooKeeperError.Ok, Stat: stat);
    }

    private OpResult SetAcl(SetAclOp op)
    {
        if (!IsValid(op.Path)) return new OpResult(ZooKeeperError.BadArguments);
        if (Resolve(op.Acl) is not { } acl) return new OpResult(ZooKeeperError.InvalidAcl);
        if (!Nodes.TryGetValue(op.Path, out var node)) return new OpResult(ZooKeeperError.NoNode);
        if (!May(node, Permissions.Admin)) return new OpResult(ZooKeeperError.NoAuth);
        if (op.Version != -1 && op.Version != node.Aversion) return new OpResult(ZooKeeperError.BadVersion);
        node.Acl = acl;
        node.Aversion++;
        return new OpResult(ZooKeeperError.Ok, Stat: StatOf(op.Path));
    }

    private OpResult Check(CheckOp op)
    {
        if (!IsValid(op.Path)) return new OpResult(ZooKeeperError.BadArguments);
        if (!Nodes.TryGetValue(op.Path, out var node)) return new OpResult(ZooKeeperError.NoNode);
        if (!May(node, Permissions.Read)) return new OpResult(ZooKeeperError.NoAuth);
        return new OpResult(op.Version == -1 || op.Version == node.Version
            ? ZooKeeperError.Ok : ZooKeeperError.BadVersion);
    }

    // The addresses of the program's callers begin with the network's only byte that counts.
    private bool May(PlainNode node, Permissions permission) =>
        _caller.Ids.Any(id => id.Scheme == "super")
        || node.Acl.Any(entry => entry.Permissions.HasFlag(permission) && (entry.Scheme == "world"
            || _caller.Ids.Any(id => id.Scheme == entry.Scheme && (id.Scheme == "ip"
                ? entry.Id == "10.0.0.0/8" && id.Id.StartsWith("10.", StringComparison.Ordinal)
                : id.Id == entry.Id))));

    private AclEntry[]? Resolve(ImmutableArray<AclEntry> asked)
    {
        if (asked.IsDefaultOrEmpty || asked.Any(entry => entry.Scheme is null or "nobody")) return null;
        var proved = _caller.Ids.Where(id => id.Scheme == "digest").ToArray();
        if (proved.Length == 0 && asked.Any(entry => entry.Scheme == "auth")) return null;
        return
        [
            .. asked.Distinct().SelectMany(entry => entry.Scheme == "auth"
                ? proved.Select(id => new AclEntry(entry.Permissions, id.Scheme, id.Id))
                : [entry]),
        ];
    }

    private bool IsBeyondQuota(string path, int count, int bytes)
    {
        if (!EnforceQuota || LimitedOver(path) is not { } limited) return false;
        if (!Nodes.TryGetValue("/zookeeper/quota" + limited + Limits, out var node)) return false;
        var text = Op.Text(node.Data);
        var use = Quotas[limited];
        return count != 0 && LimitIn(text, "countHardLimit=") is { } most && use.Count + count > most
            || bytes != 0 && LimitIn(text, "byteHardLimit=") is { } size && use.Bytes + bytes > size;
    }

    private static long? LimitIn(string text, string name)
    {
        var at = text.IndexOf(name, StringComparison.Ordinal);
        return at < 0 ? null : long.Parse(text[(at + name.Length)..].Split(';')[0], CultureInfo.InvariantCulture);
    }

    private void Count(string path, int count, int bytes)
    {
        if (LimitedOver(path) is not { } limited) return;
        var use = Quotas[limited];
        Show(limited, (use.Count + count, use.Bytes + bytes));
    }

    private void Show(string limited, (long Count, long Bytes) use)
    {
        Quotas[limited] = use;
        if (Nodes.TryGetValue("/zookeeper/quota" + limited + Stats, out var node))
            node.Data = Op.Bytes($"count={use.Count},bytes={use.Bytes}");
    }

    private string? LimitedOver(string path) => Quotas.Keys
        .Where(limited => IsWithin(path, limited))
        .MaxBy(limited => limited.Length);

    private static bool IsWithin(string path, string other) =>
        path == other || path.StartsWith(other + "/", StringComparison.Ordinal);

    private static string? QuotaOf(string path, string name) =>
        path.StartsWith("/zookeeper/quota/", StringComparison.Ordinal) && path.EndsWith(name, StringComparison.Ordinal)
        && path.Length > "/zookeeper/quota".Length + name.Length
            ? path["/zookeeper/quota".Length..^name.Length] : null;

    private static string? ParentOf(string path)
    {
        if (!path.Contains('/', StringComparison.Ordinal) || path.Contains('\0', StringComparison.Ordinal)) return null;
        var parent = path[..path.LastIndexOf('/')];
        return parent.Length == 0 ? "/" : parent;
    }

    private static bool IsValid(string path) => path == "/" || path.StartsWith('/')
        && path[1..].Split('/').All(name => name is not ("" or "." or "..") && name.All(c => c is >= ' ' and <= '~'));
}

internal sealed record Caller(long Session, int Attachment, long Time, ImmutableArray<AuthId> Ids);

internal sealed class PlainNode
{
    public byte[]? Data { get; set; }

    public required AclEntry[] Acl { get; set; }

    public long Owner { get; init; }

    public long Czxid { get; init; }

    public long Mzxid { get; set; }

    public long Pzxid { get; set; }

    public long Ctime { get; init; }

    public long Mtime { get; set; }

    public int Version { get; set; }

    public int Creates { get; set; }

    public int Aversion { get; set; }

    public PlainNode Copy() => (PlainNode)MemberwiseClone();
}

internal sealed class PlainSession
{
    public int Attachment { get; set; }

    public long FrontEnd { get; set; }
}

internal sealed class PlainFrontEnd
{
    public long Beat { get; set; }

    public bool IsDown { get; set; }
}
