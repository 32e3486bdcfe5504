using System.Collections.Immutable;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>The watches that a client believes to have, as ZooKeeper's own clients keep them across
/// connections.</summary>
internal sealed class ZooWatches
{
    private readonly SortedSet<string> _data = new(StringComparer.Ordinal);
    private readonly SortedSet<string> _exist = new(StringComparer.Ordinal);
    private readonly SortedSet<string> _child = new(StringComparer.Ordinal);
    private readonly SortedSet<string> _persistent = new(StringComparer.Ordinal);
    private readonly SortedSet<string> _recursive = new(StringComparer.Ordinal);

    /// <summary>The first request of the next connection; null: there are no watches.</summary>
    /// <param name="seen">Zxid of the newest reply.</param>
    public SetWatchesRequest? Again(long seen) =>
        _data.Count + _exist.Count + _child.Count + _persistent.Count + _recursive.Count == 0
            ? null
            : new SetWatchesRequest(OpCode.SetWatches2, seen, [.. _data], [.. _exist], [.. _child],
                [.. _persistent], [.. _recursive]);

    public void Hear(ServerEvent told)
    {
        if (told.Kind is TreeChangeKind.ChildrenChanged or TreeChangeKind.Deleted) _child.Remove(told.Path);
        if (told.Kind is TreeChangeKind.ChildrenChanged) return;
        _data.Remove(told.Path);
        _exist.Remove(told.Path);
    }

    /// <summary>Takes note of a reply.</summary>
    /// <returns>Null: it concerns no watch.</returns>
    public WatchAct? Hear(ClientRequest request, ErrorCode error)
    {
        switch (request)
        {
            case NodeRequest { Watch: true, Code: OpCode.Exists } read when error is ErrorCode.NoNode:
                _exist.Add(read.Path);
                return new LeavesWatch(WatchTableKind.Data, read.Path);
            case NodeRequest { Watch: true } read when error is ErrorCode.Ok:
                bool isChild = read.Code is OpCode.GetChildren or OpCode.GetChildren2;
                (isChild ? _child : _data).Add(read.Path);
                return new LeavesWatch(isChild ? WatchTableKind.Child : WatchTableKind.Data, read.Path);
            case WatchRequest { Code: OpCode.AddWatch } added when error is ErrorCode.Ok:
                bool isRecursive = added.Kind == (int)WatchMode.Recursive;
                (isRecursive ? _persistent : _recursive).Remove(added.Path);
                (isRecursive ? _recursive : _persistent).Add(added.Path);
                return new LeavesWatch(
                    isRecursive ? WatchTableKind.Recursive : WatchTableKind.Persistent, added.Path);
            case WatchRequest { Code: OpCode.RemoveWatches } removed when error is ErrorCode.Ok:
                foreach (var table in (SortedSet<string>[])[_data, _exist, _child, _persistent, _recursive])
                    table.Remove(removed.Path);
                return new RemovesWatches(removed.Path);
            case SetWatchesRequest sets when error is ErrorCode.Ok:
                return new SetsWatches(
                    sets.Zxid, sets.Data, sets.Exist, sets.Child, sets.Persistent, sets.Recursive);
            default:
                return null;
        }
    }
}
