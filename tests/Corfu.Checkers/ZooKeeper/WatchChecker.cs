namespace Corfu.Checkers;

/// <summary>
/// Judges the packets of one connection of a client by the changes that the log has. An event stands before every
/// packet that shows its change, or a later one (order). A watch hears each change that it waits for once, and nothing
/// else; watches that are set again hear what came between (completeness).
/// </summary>
public sealed class WatchChecker
{
    private readonly string _client;
    private readonly IReadOnlyList<WatchPacket> _packets;
    private readonly NodeChanges _changes;
    private readonly HashSet<string>[] _tables =
        [.. Enum.GetValues<WatchTableKind>().Select(static _ => new HashSet<string>(StringComparer.Ordinal))];

    // Events of the changes so far that have not come.
    private readonly List<NodeChange> _due = [];

    // Events before the first reply.
    private readonly List<EventPacket> _first = [];
    private int _next;
    private bool _hasReply;

    private WatchChecker(string client, IReadOnlyList<WatchPacket> packets, NodeChanges changes) =>
        (_client, _packets, _changes) = (client, packets, changes);

    /// <summary>At most one finding of each connection: what follows hangs on it.</summary>
    public static Violation? Check(string client, IReadOnlyList<WatchPacket> packets, NodeChanges changes) =>
        new WatchChecker(client, packets, changes).Check();

    private Violation? Check()
    {
        long newest = 0;
        for (var at = 0; at < _packets.Count; at++)
        {
            var packet = _packets[at];
            if (packet.Zxid < newest)
                return Order($"packet {at} of zxid {packet.Zxid:x} stands behind zxid {newest:x}");
            newest = packet.Zxid;
            if ((packet is EventPacket told ? Hear(told, at) : Reply((ReplyPacket)packet, at)) is { } found)
                return found;
        }

        return null;
    }

    private Violation? Hear(EventPacket told, int at)
    {
        if (!_hasReply)
        {
            _first.Add(told);
            return null;
        }

        // Events of one record may come in any order of its partitions.
        Play(told.Zxid - 1);
        if (Missing(at, told.Zxid) is { } missing) return missing;
        Play(told.Zxid);
        return _due.Remove(new NodeChange(told.Zxid, told.Kind, told.Path))
            ? null
            : Complete($"{told.Kind} {told.Path} at {told.Zxid:x} is no change that a watch waits for");
    }

    private Violation? Reply(ReplyPacket reply, int at)
    {
        if (reply.Act is SetsWatches sets && !_hasReply)
        {
            _hasReply = true;
            return SetAgain(sets, reply.Zxid);
        }

        bool isFirst = !_hasReply && reply.Act is not null;
        _hasReply |= isFirst;
        if (isFirst && _first.Count > 0) return Complete($"{_first[0]} comes to a client without watches");
        Play(reply.Zxid);
        if (Missing(at) is { } missing) return missing;
        switch (reply.Act)
        {
            case LeavesWatch leaves:
                Add(leaves.Kind, leaves.Path);
                break;
            case RemovesWatches removes:
                foreach (var table in _tables) table.Remove(removes.Path);
                break;
        }

        return null;
    }

    private void Add(WatchTableKind kind, string path)
    {
        if (kind == WatchTableKind.Persistent) Table(WatchTableKind.Recursive).Remove(path);
        if (kind == WatchTableKind.Recursive) Table(WatchTableKind.Persistent).Remove(path);
        Table(kind).Add(path);
    }

    private Violation? SetAgain(SetsWatches sets, long zxid)
    {
        _next = _changes.IndexAbove(zxid);
        var expected = new List<EventPacket>();
        foreach (var path in sets.Data)
        {
            if (!_changes.Exists(path, zxid)) Expect(NodeChangeKind.Deleted, path);
            else if (Has(path, NodeChangeKind.Created, NodeChangeKind.Deleted, NodeChangeKind.DataChanged))
                Expect(NodeChangeKind.DataChanged, path);
            else Add(WatchTableKind.Data, path);
        }

        foreach (var path in sets.Exist)
        {
            if (_changes.Exists(path, zxid)) Expect(NodeChangeKind.Created, path);
            else Add(WatchTableKind.Data, path);
        }

        foreach (var path in sets.Child)
        {
            if (!_changes.Exists(path, zxid)) Expect(NodeChangeKind.Deleted, path);
            else if (Has(path, NodeChangeKind.Created, NodeChangeKind.Deleted, NodeChangeKind.ChildrenChanged))
                Expect(NodeChangeKind.ChildrenChanged, path);
            else Add(WatchTableKind.Child, path);
        }

        foreach (var path in sets.Persistent) Add(WatchTableKind.Persistent, path);
        foreach (var path in sets.Recursive) Add(WatchTableKind.Recursive, path);
        return expected.SequenceEqual(_first)
            ? null
            : Complete($"watches set again above {sets.Seen:x} at {zxid:x} are told {string.Join(", ", _first)}, "
                + $"and not {string.Join(", ", expected)}");

        void Expect(NodeChangeKind kind, string path) => expected.Add(new EventPacket(zxid, kind, path));

        bool Has(string path, params ReadOnlySpan<NodeChangeKind> kinds) =>
            _changes.Has(path, sets.Seen, zxid, kinds);
    }

    private void Play(long upTo)
    {
        for (var all = _changes.Sorted; _next < all.Count && all[_next].Zxid <= upTo; _next++)
        {
            if (IsHeard(all[_next])) _due.Add(all[_next]);
        }
    }

    // Watches of one shot end.
    private bool IsHeard(in NodeChange change)
    {
        var path = change.Path;
        var isHeard = Table(WatchTableKind.Persistent).Contains(path);
        if (change.Kind is NodeChangeKind.ChildrenChanged) return isHeard | Table(WatchTableKind.Child).Remove(path);
        isHeard |= Table(WatchTableKind.Data).Remove(path);
        if (change.Kind is NodeChangeKind.Deleted) isHeard |= Table(WatchTableKind.Child).Remove(path);
        for (var above = path; ; above = above[..Math.Max(above.LastIndexOf('/'), 1)])
        {
            isHeard |= Table(WatchTableKind.Recursive).Contains(above);
            if (above == "/") return isHeard;
        }
    }

    // An event that comes later is late; else it is lost.
    private Violation? Missing(int at, long below = long.MaxValue)
    {
        if (_due.Count == 0 || _due[0].Zxid >= below) return null;
        var missed = _due[0];
        var isLate = _packets.Skip(at).OfType<EventPacket>().Any(
            told => (told.Zxid, told.Kind, told.Path) == (missed.Zxid, missed.Kind, missed.Path));
        var what = $"{missed.Kind} {missed.Path} at {missed.Zxid:x} has no event before packet {at} of "
            + $"zxid {_packets[at].Zxid:x}";
        return isLate ? Order(what) : Complete(what);
    }

    private HashSet<string> Table(WatchTableKind kind) => _tables[(int)kind];

    private Violation Order(string what) => new(CheckerNames.ZooKeeperOrder, $"{_client}: {what}");

    private Violation Complete(string what) => new(CheckerNames.ZooKeeperWatch, $"{_client}: {what}");
}
