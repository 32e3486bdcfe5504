namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>Watches of one shot that a client has left, with the change that each has seen last.</summary>
internal sealed class WatchBook
{
    /// <summary>The node was missing.</summary>
    public const long Absent = 0;

    /// <summary>By path: the zxid of the data that was shown.</summary>
    public Dictionary<string, long> Data { get; } = [];

    /// <summary>By path: the zxid of the newest change of the children that were shown.</summary>
    public Dictionary<string, long> Children { get; } = [];

    public bool IsEmpty => Data.Count + Children.Count == 0;

    /// <summary>Takes a reply of a read: a read that succeeds leaves its watch, and an exists of a missing node
    /// does.</summary>
    public void Register(ZooEntry entry)
    {
        if (!entry.Call.Watch) return;
        var isMissing = entry is { Act: ZooAct.Exists, Error: ZooEntry.NoNode };
        if (!entry.IsOk && !isMissing) return;
        if (entry.Act == ZooAct.Children) Children.TryAdd(entry.Path, entry.Stat!.Pzxid);
        else Data.TryAdd(entry.Path, isMissing ? Absent : entry.Stat!.Mzxid);
    }

    /// <returns>False: there was no watch that hears of this.</returns>
    public bool Fire(ZooEntry entry)
    {
        const int Deleted = 2;
        const int ChildrenChanged = 4;
        var fired = entry.Kind != ChildrenChanged && Take(Data, entry);
        if (entry.Kind is ChildrenChanged or Deleted) fired |= Take(Children, entry);
        return fired;
    }

    // An event of a change that was shown before the watch was left is one too many.
    private static bool Take(Dictionary<string, long> watches, ZooEntry entry) =>
        watches.Remove(entry.Path, out var shown) && entry.Zxid > shown;
}
