namespace Corfu.Checkers;

/// <summary>Event of the node of a path.</summary>
public enum NodeChangeKind
{
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

/// <param name="Zxid">Number of the record that brought the change.</param>
public readonly record struct NodeChange(long Zxid, NodeChangeKind Kind, string Path);

/// <summary>All changes of a log, and what states of the tree have shown.</summary>
public sealed class NodeChanges
{
    private readonly SortedDictionary<long, List<NodeChange>> _changes = [];
    private readonly Dictionary<string, SortedDictionary<long, bool>> _states = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Path, NodeChangeKind Kind), SortedSet<long>> _shown = [];
    private NodeChange[]? _sorted;

    /// <summary>Changes by zxid; those of one record in their order.</summary>
    public IReadOnlyList<NodeChange> Sorted => _sorted ??= [.. _changes.Values.SelectMany(static some => some)];

    /// <summary>Notes changes of one partition by a record.</summary>
    public void Add(IEnumerable<NodeChange> changes)
    {
        foreach (var change in changes)
        {
            if (!_changes.TryGetValue(change.Zxid, out var record)) _changes.Add(change.Zxid, record = []);
            record.Add(change);
            if (change.Kind is NodeChangeKind.Created) Note(change.Path, change.Zxid, true);
            if (change.Kind is NodeChangeKind.Deleted) Note(change.Path, change.Zxid, false);
            _sorted = null;
        }
    }

    /// <summary>Notes whether a node is there behind a record.</summary>
    public void Note(string path, long zxid, bool exists)
    {
        if (!_states.TryGetValue(path, out var states)) _states.Add(path, states = []);
        states[zxid] = exists;
    }

    /// <summary>Notes the newest change of a node, of which perhaps only its stat tells: all that load a checkpoint
    /// behind the change pass it over.</summary>
    public void Show(string path, NodeChangeKind kind, long zxid)
    {
        if (!_shown.TryGetValue((path, kind), out var zxids)) _shown.Add((path, kind), zxids = []);
        zxids.Add(zxid);
    }

    /// <summary>All paths that were ever noted.</summary>
    public IEnumerable<string> Paths => _states.Keys;

    /// <summary>Whether a node is there behind a record.</summary>
    public bool Exists(string path, long zxid) =>
        path == "/" || _states.TryGetValue(path, out var states)
            && states.LastOrDefault(state => state.Key <= zxid) is { Key: not 0, Value: true };

    /// <summary>Place of the first change above a zxid.</summary>
    public int IndexAbove(long zxid)
    {
        var (low, high) = (0, Sorted.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (Sorted[middle].Zxid <= zxid) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    /// <summary>Whether a path has such a change.</summary>
    public bool Has(string path, long above, long upTo, params ReadOnlySpan<NodeChangeKind> kinds)
    {
        for (var at = IndexAbove(above); at < Sorted.Count && Sorted[at].Zxid <= upTo; at++)
        {
            if (Sorted[at].Path == path && kinds.Contains(Sorted[at].Kind)) return true;
        }

        foreach (var kind in kinds)
        {
            if (_shown.TryGetValue((path, kind), out var zxids)
                && zxids.Any(zxid => zxid > above && zxid <= upTo)) return true;
        }

        return false;
    }
}
