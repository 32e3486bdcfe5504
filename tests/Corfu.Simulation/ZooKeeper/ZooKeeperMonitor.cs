using System.Collections.Immutable;
using System.Globalization;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;
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
    private readonly Dictionary<(string Home, long Session, int Attachment), (Write Write, long Zxid)> _newest = [];

    // The place of a write is one, whatever partitions it concerns.
    private readonly Dictionary<Write, long> _places = [];
    private readonly Dictionary<long, (RequestHeader Caller, TreeResult Result)> _results = [];
    private readonly List<ZooAnswer> _answers = [];
    private readonly Dictionary<CrossMulti, ErrorCode?> _multis = [];
    private readonly NodeChanges _changes = new();
    private readonly List<(string Client, IReadOnlyList<WatchPacket> Packets)> _connections = [];
    private readonly HashSet<(long FrontEnd, long Beat, long Session, int Attachment)> _seen = [];

    // A front end may still answer a client whose silence it has told itself.
    private readonly HashSet<(long Session, int Attachment)> _endedByOwn = [];
    private readonly HashSet<long> _endedByOthers = [];

    /// <summary>A front end is about to end a session.</summary>
    public event Action<long>? Expiring;

    public void Mark(string situation) => monitor.Mark(situation);

    public void Found(string checker, string what) => monitor.Found(checker, what);

    /// <summary>An expiry, with what its sender has seen.</summary>
    /// <param name="isOwn">The sender serves the sessions.</param>
    public void Sent(ExpireRecord record, bool isOwn)
    {
        foreach (ExpiredSession one in record.Sessions)
        {
            _seen.Add((record.FrontEnd, record.Beat, one.Session, one.Attachment));
            if (isOwn) _endedByOwn.Add((one.Session, one.Attachment));
            Expiring?.Invoke(one.Session);
        }
    }

    /// <summary>A front end gives packets for a client to its socket.</summary>
    // Z10: a session that others have ended is another client's loss by now.
    public void Given(long session)
    {
        if (_endedByOthers.Contains(session))
            Found(CheckerNames.ZooKeeperSilence, $"session {session:x} is answered behind its end");
    }

    /// <summary>The newest mounts that a front end has played.</summary>
    public IReadOnlyList<string> Mounts { get; private set; } = [];

    public void Began(CrossMulti multi) => _multis[multi] = null;

    /// <param name="error">Null: the outcome is in doubt.</param>
    public void Ended(CrossMulti multi, ErrorCode? error)
    {
        _multis[multi] = error;
        Mark(error switch
        {
            null => "zookeeper multi across partitions in doubt",
            ErrorCode.Ok => "zookeeper multi across partitions committed",
            (ErrorCode)ZooKeeperError.OperationTimeout => "zookeeper multi across partitions aborted",
            _ => "zookeeper multi across partitions failed",
        });
    }

    public void Answered(ZooAnswer answer) => _answers.Add(answer);

    /// <summary>A client has a connection, whose packets are added as they come.</summary>
    public void Connected(string client, IReadOnlyList<WatchPacket> packets) => _connections.Add((client, packets));

    /// <summary>A front end shows a state of which it has not told the effects.</summary>
    public void Loaded(TreeRoot root)
    {
        foreach (ZNode node in root.Subtree(NodePath.Root))
        {
            _changes.Note(node.Path, root.LastZxid, true);
            _changes.Show(node.Path, NodeChangeKind.DataChanged, node.Stat.Mzxid);
            _changes.Show(node.Path, NodeChangeKind.ChildrenChanged, node.Stat.Pzxid);
        }

        foreach (string path in _changes.Paths.Where(path => root.PartitionOf(path) == root.Home).ToList())
        {
            if (root.Find(path) is null) _changes.Note(path, root.LastZxid, false);
        }
    }

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

        _changes.Add(effect.Changes.Select(
            one => new NodeChange(effect.Zxid, (NodeChangeKind)one.Kind, one.Path)));
        if (effect.Root.MountCount > Mounts.Count)
            Mounts = [.. effect.Root.Mounts.Select(static mount => mount.Path)];
        if (effect is { Ticket: not 0, Result.Error: ZooKeeperError.OperationTimeout })
            Mark("zookeeper record lost to a mount");
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
    private void LookAtMulti(CrossMulti multi, ErrorCode? outcome, IReadOnlyDictionary<string, TreeRoot> roots)
    {
        var zxids = multi.Homes.Zip(multi.Marks, (home, path) => roots[home].Find(path)?.Stat.Czxid ?? 0).ToList();
        if (zxids.Distinct().Count() > 1)
            Found(CheckerNames.ZooKeeperMulti, $"multi {multi.Id} stands at {string.Join(", ", zxids)}");
        if (outcome is not (null or ErrorCode.Ok) && zxids[0] != 0)
            Found(CheckerNames.ZooKeeperMulti, $"multi {multi.Id} was answered {outcome}, and has taken effect");
        if (outcome is ErrorCode.Ok && !multi.IsEphemeral && zxids[0] == 0)
            Found(CheckerNames.ZooKeeperMulti, $"multi {multi.Id} was answered, and has no effect");
    }

    /// <summary>Replies are those of the log, and events those of its changes.</summary>
    public IEnumerable<Violation> Verdicts() => _answers.Select(VerdictOn).OfType<Violation>()
        .Concat(_connections.Select(one => WatchChecker.Check(one.Client, one.Packets, _changes)).OfType<Violation>())
        .Concat(VerdictsOfOrder());

    // The reply to a write is what its record came to, and names the record (Z2, Z6).
    private Violation? VerdictOn(ZooAnswer answer)
    {
        var (session, number, request, head, frame) = answer;
        if (!_results.TryGetValue(head.Zxid, out var decided)
            || (decided.Caller.Session, decided.Caller.Number) != (session, number))
        {
            return FailedWithoutRecord() ? null : Wrong("no record");
        }

        using var expected = new JuteWriter();
        ReplyWriter.Write(expected, head.Xid, head.Zxid, request, decided.Result);
        if (expected.Written[sizeof(int)..].SequenceEqual(frame)) return null;
        // Numbers begin anew in each attachment: the newest record may be the lost write of the one before.
        bool isOfEarlier = decided.Result.Error == ZooKeeperError.SessionMoved;
        return isOfEarlier && FailedWithoutRecord() ? null : Wrong($"{decided.Result}");

        // A request that fails on a snapshot has no record.
        bool FailedWithoutRecord() => (head.Error != ErrorCode.Ok || request is MultiRequest) && !IsSuccess(answer);

        Violation Wrong(string applied) => new(CheckerNames.ZooKeeperReply,
            $"write {number} of {session:x} is {applied}, and was answered {Convert.ToHexString(frame)}");
    }

    private static bool IsSuccess(ZooAnswer answer)
    {
        var reader = new JuteReader(answer.Frame);
        ReplyReader.TryReadHead(ref reader, out _);
        return ReplyReader.ReadBody(answer.Request.Code, answer.Head, ref reader) is { Error: ErrorCode.Ok } reply
            && reply.Parts.All(static part => part.Error == ErrorCode.Ok);
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
        // A record of all partitions is answered by the root partition's effect, and parts are one multi's.
        if (effect.Ticket == 0 || home == NodePath.Root) Note(caller, effect);
        if (!_places.TryAdd(write, effect.Zxid) && _places[write] != effect.Zxid)
            Found(CheckerNames.ZooKeeperOnce, $"{write} at {effect.Zxid:x}, and at {_places[write]:x}");
        // A front end that loads a checkpoint passes effects over, which another one tells later.
        var client = (home, caller.Session, caller.Attachment);
        var newest = _newest.GetValueOrDefault(client);
        if (effect.Zxid > newest.Zxid)
        {
            if (newest.Write.Number > write.Number)
                Found(CheckerNames.ZooKeeperOnce, $"{write} behind number {newest.Write.Number}");
            _newest[client] = (write, effect.Zxid);
        }

        var session = before.FindSession(caller.Session);
        if (effect.Result.Error == ZooKeeperError.SessionMoved) Mark("zookeeper write of a moved session");
        else if (session is null != (effect.Result.Error == ZooKeeperError.SessionExpired)
            || (session is not null && session.Attachment != caller.Attachment))
            Found(CheckerNames.ZooKeeperFence, $"{write} at {effect.Zxid:x} is {effect.Result.Error} in attachment "
                + $"{session?.Attachment ?? 0}");
    }

    private void Note(RequestHeader caller, TreeEffect effect)
    {
        if (effect.Result is not PartResult part)
        {
            _results.TryAdd(effect.Zxid, (caller, effect.Result));
            return;
        }

        var parts = _results.GetValueOrDefault(effect.Zxid).Result is MultiResult before
            ? before.Parts.ToArray()
            : new OpResult[part.Total];
        for (int i = 0; i < part.Parts.Length; i++) parts[part.Indexes[i]] = part.Parts[i];
        _results[effect.Zxid] = (caller, new MultiResult(ZooKeeperError.Ok, [.. parts]));
    }

    // Z8, Z12: a session ends as its observer has seen it, and with all its nodes.
    private void LookAtSessions(TreeRoot before, TreeEffect effect)
    {
        foreach (long id in (effect.Result as ExpireResult)?.Sessions ?? [])
        {
            Mark("zookeeper session expired");
            var session = before.FindSession(id)!;
            if (!_endedByOwn.Contains((id, session.Attachment))) _endedByOthers.Add(id);
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
internal sealed record CrossMulti(long Id, bool IsEphemeral, IReadOnlyList<string> Homes)
{
    /// <summary>The nodes, in the order of the partitions.</summary>
    public IEnumerable<string> Marks => Homes.Select(home =>
        $"{(home == NodePath.Root ? SimFrontEnd.Marks : home)}/{Id}");
}

/// <summary>A client's write.</summary>
/// <param name="Number">In the attachment.</param>
internal readonly record struct Write(long Session, int Attachment, long Number);
