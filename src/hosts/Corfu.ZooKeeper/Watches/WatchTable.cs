using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Watches;

/// <summary>Watches of all connections. Guarded by the front end's gate.</summary>
/// <param name="maxBytes">As <see cref="Hosting.ZooKeeperLimits.MaxWatchBytes"/>.</param>
internal sealed class WatchTable(long maxBytes)
{
    private readonly PathWatches<ZooConnection> _data = new();
    private readonly PathWatches<ZooConnection> _child = new();
    private readonly PathWatches<ZooConnection> _persistent = new();
    private readonly PathWatches<ZooConnection> _recursive = new();

    // Connections that hear of the change at hand: each once.
    private readonly HashSet<ZooConnection> _told = [];

    public long Count => All.Sum(static watches => watches.Count);

    public int Paths => All.Sum(static watches => watches.Paths);

    public int Owners => All.SelectMany(static watches => watches.Owners).Distinct().Count();

    private PathWatches<ZooConnection>[] All => [_data, _child, _persistent, _recursive];

    private long Bytes => _data.Bytes + _child.Bytes + _persistent.Bytes + _recursive.Bytes;

    public void AddData(string path, ZooConnection owner) => Add(_data, path, owner);

    public void AddChild(string path, ZooConnection owner) => Add(_child, path, owner);

    public void AddPersistent(string path, ZooConnection owner)
    {
        _recursive.Remove(path, owner);
        Add(_persistent, path, owner);
    }

    public void AddRecursive(string path, ZooConnection owner)
    {
        _persistent.Remove(path, owner);
        Add(_recursive, path, owner);
    }

    public bool Has(WatchKind kind, string path, ZooConnection owner) =>
        KindsOf(kind).Any(watches => watches.Has(path, owner));

    /// <returns>False: there was no such watch.</returns>
    public bool Remove(WatchKind kind, string path, ZooConnection owner)
    {
        var removed = false;
        foreach (var watches in KindsOf(kind)) removed |= watches.Remove(path, owner);
        return removed;
    }

    public void RemoveAll(ZooConnection owner)
    {
        foreach (var watches in All) watches.RemoveAll(owner);
    }

    /// <summary>Queues the notifications of a change.</summary>
    public void Tell(in TreeChange change, long zxid)
    {
        _told.Clear();
        switch (change.Kind)
        {
            case TreeChangeKind.ChildrenChanged:
                _told.UnionWith(_child.Take(change.Path));
                _told.UnionWith(_persistent.At(change.Path));
                break;
            case TreeChangeKind.Deleted:
                _told.UnionWith(_data.Take(change.Path));
                _told.UnionWith(_child.Take(change.Path));
                AddStaying(change.Path);
                break;
            default:
                _told.UnionWith(_data.Take(change.Path));
                AddStaying(change.Path);
                break;
        }

        foreach (var connection in _told) connection.Tell(change, zxid);
    }

    // Beyond the limit the connection with most is closed, which may be the owner.
    private void Add(PathWatches<ZooConnection> watches, string path, ZooConnection owner)
    {
        watches.Add(path, owner);
        while (Bytes > maxBytes)
        {
            var (largest, bytes) = All.SelectMany(static all => all.Owners).Distinct()
                .Select(holder => (Holder: holder, Bytes: All.Sum(all => all.BytesOf(holder))))
                .MaxBy(static held => held.Bytes);
            RemoveAll(largest);
            largest.Evict(bytes, maxBytes, "maxWatchBytes");
        }
    }

    private void AddStaying(string path)
    {
        _told.UnionWith(_persistent.At(path));
        if (_recursive.Paths == 0) return;
        for (var at = path; ; at = NodePath.ParentOf(at)!)
        {
            _told.UnionWith(_recursive.At(at));
            if (at == NodePath.Root) return;
        }
    }

    private PathWatches<ZooConnection>[] KindsOf(WatchKind kind) => kind switch
    {
        WatchKind.Children => [_child],
        WatchKind.Data => [_data],
        WatchKind.Any => All,
        WatchKind.Persistent => [_persistent],
        WatchKind.Recursive => [_recursive],
        _ => [],
    };
}
