namespace Corfu.Checkers;

/// <summary>A packet that a client got, in the order of its connection.</summary>
public abstract record WatchPacket(long Zxid);

/// <summary>A notification.</summary>
public sealed record EventPacket(long Zxid, NodeChangeKind Kind, string Path) : WatchPacket(Zxid);

/// <summary>A reply.</summary>
/// <param name="Act">Null: the request left no watch, and took none.</param>
public sealed record ReplyPacket(long Zxid, WatchAct? Act = null) : WatchPacket(Zxid);

/// <summary>A request about watches, which succeeded.</summary>
public abstract record WatchAct;

/// <summary>A read has left a watch of one shot, or a watch that stays was added.</summary>
public sealed record LeavesWatch(WatchTableKind Kind, string Path) : WatchAct;

/// <summary>All watches of a path are removed.</summary>
public sealed record RemovesWatches(string Path) : WatchAct;

/// <summary>Watches of the connections before: the first request of a connection.</summary>
/// <param name="Seen">The newest zxid that the client had seen.</param>
public sealed record SetsWatches(long Seen, IReadOnlyList<string> Data, IReadOnlyList<string> Exist,
    IReadOnlyList<string> Child, IReadOnlyList<string> Persistent, IReadOnlyList<string> Recursive) : WatchAct;

public enum WatchTableKind
{
    Data,
    Child,
    Persistent,
    Recursive,
}
