using System.Collections.Immutable;
using System.Globalization;
using Corfu.Simulation.Cluster;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>All effects that front ends have played, and all replies that clients got. Looks at each as it
/// comes.</summary>
internal sealed class ZooKeeperMonitor(ClusterMonitor monitor)
{
    // A digest reads the whole tree.
    private const int DigestEvery = 8;

    private readonly Dictionary<long, string> _effects = [];
    private readonly Dictionary<long, string> _digests = [];
    private readonly Dictionary<Write, (long Zxid, TreeResult Result)> _writes = [];
    private readonly Dictionary<(long Session, int Attachment), Write> _newest = [];
    private readonly Dictionary<Write, TreeResult> _replies = [];
    private readonly HashSet<(long FrontEnd, long Beat, long Session, int Attachment)> _seen = [];

    public void Mark(string situation) => monitor.Mark(situation);

    public void Found(string checker, string what) => monitor.Found(checker, what);

    /// <summary>An expiry, with what its sender has seen.</summary>
    public void Sent(ExpireRecord record)
    {
        foreach (ExpiredSession one in record.Sessions)
            _seen.Add((record.FrontEnd, record.Beat, one.Session, one.Attachment));
    }

    public void Replied(Write write, TreeResult result) => _replies[write] = result;

    public void Applied(string frontEnd, TreeRoot before, TreeEffect effect)
    {
        if (effect.Zxid <= before.LastZxid)
            Found(CheckerNames.ZooKeeperZxid, $"{frontEnd}: {effect.Zxid:x} behind {before.LastZxid:x}");
        string text = TextOf(effect);
        if (!_effects.TryAdd(effect.Zxid, text))
        {
            if (_effects[effect.Zxid] != text)
            {
                Found(CheckerNames.ZooKeeperZxid,
                    $"{frontEnd}: {effect.Zxid:x} is {text}, and was {_effects[effect.Zxid]}");
            }

            return;
        }

        LookAtCaller(before, effect);
        LookAtSessions(before, effect);
        LookAtNodes(before, effect);
    }

    /// <summary>Front ends that have played the same records have the same tree.</summary>
    public void Published(string frontEnd, TreeRoot root)
    {
        if ((root.LastZxid >> 16) % DigestEvery != 0) return;
        string digest = DigestOf(root);
        if (!_digests.TryAdd(root.LastZxid, digest) && _digests[root.LastZxid] != digest)
            Found(CheckerNames.ZooKeeperViews, $"{frontEnd}: another tree at {root.LastZxid:x}");
    }

    /// <summary>Replies are those of the log.</summary>
    public IEnumerable<Violation> Verdicts()
    {
        foreach (var (write, reply) in _replies)
        {
            if (!_writes.TryGetValue(write, out var applied)) continue;
            if (!applied.Result.Equals(reply))
                yield return new(CheckerNames.ZooKeeperReply, $"{write} is {applied.Result}, and was answered {reply}");
        }
    }

    // Z7: a write takes effect in the session's newest attachment only, once, and in the order of its client.
    private void LookAtCaller(TreeRoot before, TreeEffect effect)
    {
        if (effect.Caller is not { Session: not 0 } caller) return;
        var write = new Write(caller.Session, caller.Attachment, caller.Number);
        if (!_writes.TryAdd(write, (effect.Zxid, effect.Result)))
            Found(CheckerNames.ZooKeeperOnce, $"{write} at {effect.Zxid:x}, and at {_writes[write].Zxid:x}");
        if (_newest.TryGetValue((caller.Session, caller.Attachment), out Write newest) && newest.Number > write.Number)
            Found(CheckerNames.ZooKeeperOnce, $"{write} behind number {newest.Number}");
        _newest[(caller.Session, caller.Attachment)] = write;
        var session = before.FindSession(caller.Session);
        if (effect.Result.Error == ZooKeeperError.SessionMoved) Mark("zookeeper write of a moved session");
        else if (session is null != (effect.Result.Error == ZooKeeperError.SessionExpired)
            || (session is not null && session.Attachment != caller.Attachment))
            Found(CheckerNames.ZooKeeperFence, $"{write} at {effect.Zxid:x} is {effect.Result.Error} in attachment "
                + $"{session?.Attachment ?? 0}");
    }

    // Z8, Z12: a session ends as its observer has seen it, and with all its nodes.
    private void LookAtSessions(TreeRoot before, TreeEffect effect)
    {
        foreach (long id in (effect.Result as ExpireResult)?.Sessions ?? [])
        {
            Mark("zookeeper session expired");
            var session = before.FindSession(id)!;
            var beat = before.FindFrontEnd(session.FrontEnd)!.Beat;
            if (!_seen.Contains((session.FrontEnd, beat, id, session.Attachment)))
                Found(CheckerNames.ZooKeeperAlive, $"session {id:x} expires at {effect.Zxid:x}, in attachment "
                    + $"{session.Attachment} and beat {beat}, which no observer has seen");
        }

        if (effect.Result is ExpireResult { Sessions.IsEmpty: true }) Mark("zookeeper expiry lost to a sign of life");
        foreach (var session in before.AllSessions().Where(one => effect.Root.FindSession(one.Id) is null))
        {
            var left = session.Ephemerals.Where(path => effect.Root.Find(path) is not null).ToList();
            var deleted = effect.Changes.Where(one => one.Kind == TreeChangeKind.Deleted).Select(one => one.Path);
            if (left.Count > 0 || !session.Ephemerals.IsSubsetOf(deleted))
                Found(CheckerNames.ZooKeeperEphemeral,
                    $"session {session.Id:x} ends at {effect.Zxid:x}, and leaves {string.Join(", ", left)}");
            if (session.Ephemerals.Count > 0) Mark("zookeeper ephemerals ended");
        }
    }

    private void LookAtNodes(TreeRoot before, TreeEffect effect)
    {
        var (old, now) = (before.Find(SimFrontEnd.Sequences)?.Stat, effect.Root.Find(SimFrontEnd.Sequences)?.Stat);
        if (effect.Result.Error != ZooKeeperError.Ok)
        {
            if (effect.Result is MultiResult) Mark("zookeeper multi failed");
            if (old != now || before.NodeCount != effect.Root.NodeCount || before.DataBytes != effect.Root.DataBytes)
                Found(CheckerNames.ZooKeeperMulti, $"{effect.Zxid:x} has failed with {effect.Result.Error}, and left "
                    + "a change");
            return;
        }

        // Ephemeral nodes go with their session, or by their client's delete.
        foreach (var change in effect.Changes.Where(one => one.Kind == TreeChangeKind.Deleted))
        {
            long owner = before.Find(change.Path)?.Stat.EphemeralOwner ?? 0;
            if (owner != 0 && effect.Root.FindSession(owner) is not null && effect.Caller is null)
                Found(CheckerNames.ZooKeeperEphemeral, $"{change.Path} goes at {effect.Zxid:x} before its session");
        }

        // Names of a sequence are those of the creates before, one after the other.
        if (old is not { } stat) return;
        int creates = (stat.Cversion + stat.ChildCount) / 2;
        foreach (var change in effect.Changes.Where(one => one.Kind == TreeChangeKind.Created
            && one.Path.StartsWith(SimFrontEnd.Sequences + "/", StringComparison.Ordinal)))
        {
            Mark("zookeeper sequence");
            if (int.Parse(change.Path[^10..], CultureInfo.InvariantCulture) != creates++)
                Found(CheckerNames.ZooKeeperSequence, $"{change.Path} at {effect.Zxid:x} behind {creates - 1} creates");
        }
    }

    private static string TextOf(TreeEffect effect) => $"{effect.Caller?.Session} {effect.Caller?.Attachment} "
        + $"{effect.Caller?.Number} {TextOf(effect.Result)} "
        + string.Join(",", effect.Changes.Select(one => $"{one.Kind} {one.Path}"))
        + $" {effect.Root.NodeCount} {effect.Root.SessionCount}";

    private static string TextOf(TreeResult result) => result switch
    {
        MultiResult multi => $"multi {multi.Error} {string.Join(",", multi.Parts)}",
        ExpireResult expire => $"expire {string.Join(",", expire.Sessions)}",
        _ => $"{result}",
    };

    private static string DigestOf(TreeRoot root)
    {
        ulong hash = 14695981039346656037;
        foreach (ZNode node in root.Subtree("/"))
            Add($"{node.Path} {node.Stat} {Convert.ToHexString((node.Data ?? default).Span)}");
        foreach (ZooKeeperSession session in root.AllSessions())
        {
            Add($"{session.Id} {session.Attachment} {session.FrontEnd} "
                + string.Join(",", session.Ephemerals.ToImmutableArray()));
        }

        foreach (FrontEnd frontEnd in root.AllFrontEnds) Add($"{frontEnd}");
        return hash.ToString("x16", CultureInfo.InvariantCulture);

        void Add(string text)
        {
            foreach (char one in text) hash = (hash ^ one) * 1099511628211;
        }
    }
}

/// <summary>A client's write.</summary>
/// <param name="Number">In the attachment.</param>
internal readonly record struct Write(long Session, int Attachment, long Number);
