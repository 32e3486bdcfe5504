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

    // All by mount of the partition, beside their own key.
    private readonly Dictionary<(string Home, long Zxid), string> _effects = [];
    private readonly Dictionary<(string Home, long Zxid), string> _digests = [];
    private readonly Dictionary<(string Home, long Session, int Attachment), Write> _newest = [];

    // The place of a write is one, whatever partitions it concerns.
    private readonly Dictionary<Write, long> _places = [];
    private readonly Dictionary<Write, TreeResult> _results = [];
    private readonly Dictionary<Write, TreeResult> _replies = [];
    private readonly Dictionary<CrossMulti, CrossResult?> _multis = [];
    private readonly HashSet<(long FrontEnd, long Beat, long Session, int Attachment)> _seen = [];

    public void Mark(string situation) => monitor.Mark(situation);

    public void Found(string checker, string what) => monitor.Found(checker, what);

    /// <summary>An expiry, with what its sender has seen.</summary>
    public void Sent(ExpireRecord record)
    {
        foreach (ExpiredSession one in record.Sessions)
            _seen.Add((record.FrontEnd, record.Beat, one.Session, one.Attachment));
    }

    public void Began(CrossMulti multi) => _multis[multi] = null;

    public void Ended(CrossMulti multi, CrossResult outcome)
    {
        _multis[multi] = outcome;
        Mark(outcome.IsInDoubt ? "zookeeper multi across partitions in doubt"
            : outcome.Failure is not { } failure ? "zookeeper multi across partitions committed"
            : failure.Error == ZooKeeperError.OperationTimeout ? "zookeeper multi across partitions aborted"
            : "zookeeper multi across partitions failed");
    }

    public void Replied(Write write, TreeResult result) => _replies[write] = result;

    public void Applied(string frontEnd, TreeRoot before, TreeEffect effect)
    {
        if (effect.Zxid <= before.LastZxid)
            Found(CheckerNames.ZooKeeperZxid, $"{frontEnd}: {effect.Zxid:x} behind {before.LastZxid:x}");
        string text = TextOf(effect);
        var place = (effect.Root.Home, effect.Zxid);
        if (!_effects.TryAdd(place, text))
        {
            if (_effects[place] != text)
            {
                Found(CheckerNames.ZooKeeperZxid,
                    $"{frontEnd}: {effect.Zxid:x} is {text}, and was {_effects[place]}");
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
        var place = (root.Home, root.LastZxid);
        if (!_digests.TryAdd(place, digest) && _digests[place] != digest)
            Found(CheckerNames.ZooKeeperViews, $"{frontEnd}: another tree of {root.Home} at {root.LastZxid:x}");
    }

    /// <summary>The last states of all partitions, by mount.</summary>
    public void Audit(IReadOnlyDictionary<string, TreeRoot> roots)
    {
        TreeRoot main = roots[NodePath.Root];
        foreach (var (home, root) in roots)
        {
            foreach (ZNode node in root.Subtree(NodePath.Root))
            {
                long owner = node.Stat.EphemeralOwner;
                if (owner != 0 && root.FindSession(owner) is null)
                    Found(CheckerNames.ZooKeeperEphemeral, $"{node.Path} is left of session {owner:x}");
            }

            // Z13: the partitions have the same sessions.
            var own = root.AllSessions().Select(one => (one.Id, one.Attachment, one.FrontEnd)).ToHashSet();
            if (!own.SetEquals(main.AllSessions().Select(one => (one.Id, one.Attachment, one.FrontEnd))))
                Found(CheckerNames.ZooKeeperViews, $"the sessions of {home} are not those of the root partition");
        }

        foreach (var (multi, outcome) in _multis) LookAtMulti(multi, outcome, roots);
    }

    // A multi has taken effect in all its partitions, by one record, or in none.
    private void LookAtMulti(CrossMulti multi, CrossResult? outcome, IReadOnlyDictionary<string, TreeRoot> roots)
    {
        var zxids = multi.Homes.Zip(multi.Marks, (home, path) => roots[home].Find(path)?.Stat.Czxid ?? 0).ToList();
        if (zxids.Distinct().Count() > 1)
            Found(CheckerNames.ZooKeeperMulti, $"{multi.Write} stands at {string.Join(", ", zxids)}");
        bool hasFailed = outcome?.Failure is not null;
        if (hasFailed && zxids[0] != 0)
            Found(CheckerNames.ZooKeeperMulti, $"{multi.Write} was answered {outcome!.Failure}, and has taken effect");
        if (outcome is { Failure: null, IsInDoubt: false } && !multi.IsEphemeral && zxids[0] == 0)
            Found(CheckerNames.ZooKeeperMulti, $"{multi.Write} was answered, and has no effect");
    }

    /// <summary>Replies are those of the log.</summary>
    public IEnumerable<Violation> Verdicts()
    {
        foreach (var (write, reply) in _replies)
        {
            if (!_results.TryGetValue(write, out var applied)) continue;
            if (!applied.Equals(reply))
                yield return new(CheckerNames.ZooKeeperReply, $"{write} is {applied}, and was answered {reply}");
        }

        foreach (Violation violation in VerdictsOfOrder()) yield return violation;
    }

    // The writes of an attachment stand in the order of its client, across partitions too.
    private IEnumerable<Violation> VerdictsOfOrder()
    {
        foreach (var writes in _places.GroupBy(pair => (pair.Key.Session, pair.Key.Attachment)))
        {
            long newest = 0;
            foreach (var (write, zxid) in writes.OrderBy(pair => pair.Key.Number))
            {
                if (zxid < newest)
                    yield return new(CheckerNames.ZooKeeperZxid, $"{write} at {zxid:x} stands before an earlier one");
                newest = zxid;
            }
        }
    }

    // Z7: a write takes effect in the session's newest attachment only, once, and in the order of its client.
    private void LookAtCaller(TreeRoot before, TreeEffect effect)
    {
        if (effect.Caller is not { Session: not 0 } caller) return;
        // A record whose writer did not know all mounts has no effect in any partition, and is sent again.
        if (effect.Result.Error == ZooKeeperError.OperationTimeout) return;
        string home = effect.Root.Home;
        var write = new Write(caller.Session, caller.Attachment, caller.Number);
        // A record of all partitions is answered by the root partition's effect.
        if (effect.Ticket == 0 || home == NodePath.Root) _results.TryAdd(write, effect.Result);
        if (!_places.TryAdd(write, effect.Zxid) && _places[write] != effect.Zxid)
            Found(CheckerNames.ZooKeeperOnce, $"{write} at {effect.Zxid:x}, and at {_places[write]:x}");
        var client = (home, caller.Session, caller.Attachment);
        if (_newest.TryGetValue(client, out Write newest) && newest.Number > write.Number)
            Found(CheckerNames.ZooKeeperOnce, $"{write} behind number {newest.Number}");
        _newest[client] = write;
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

/// <summary>A multi across partitions, which creates a node in each.</summary>
/// <param name="Homes">Mounts of its partitions.</param>
internal sealed record CrossMulti(Write Write, bool IsEphemeral, IReadOnlyList<string> Homes)
{
    /// <summary>The nodes, in the order of the partitions.</summary>
    public IEnumerable<string> Marks => Homes.Select(home =>
        $"{(home == NodePath.Root ? SimFrontEnd.Marks : home)}/{Write.Session:x}-{Write.Attachment}-{Write.Number}");
}

/// <summary>A client's write.</summary>
/// <param name="Number">In the attachment.</param>
internal readonly record struct Write(long Session, int Attachment, long Number);
