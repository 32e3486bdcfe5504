namespace Tango.ZooKeeper;

/// <summary>The sessions that there are. Persistent, as the tree is.</summary>
internal sealed class SessionTable
{
    private readonly HashTrie<long, ZooKeeperSession, SessionKeys> _sessions;

    public SessionTable(ulong seed)
        : this(new HashTrie<long, ZooKeeperSession, SessionKeys>(seed))
    {
    }

    private SessionTable(HashTrie<long, ZooKeeperSession, SessionKeys> sessions) => _sessions = sessions;

    public int Count => _sessions.Count;

    /// <param name="sessions">Each once.</param>
    public static SessionTable From(IReadOnlyCollection<ZooKeeperSession> sessions, ulong seed) =>
        new(HashTrie<long, ZooKeeperSession, SessionKeys>.From(sessions, seed));

    public ZooKeeperSession? Find(long id) => _sessions.Find(id);

    public IEnumerable<ZooKeeperSession> Sessions() => _sessions.Items();

    /// <summary>Whether a request of this attachment may have an effect (Z7).</summary>
    public ZooKeeperError Check(long id, int attachment)
    {
        var session = Find(id);
        if (session is null) return ZooKeeperError.SessionExpired;
        if (Planted.Is("old-attachment-writes")) return ZooKeeperError.Ok;
        return session.Attachment == attachment ? ZooKeeperError.Ok : ZooKeeperError.SessionMoved;
    }

    public SessionTable Set(ZooKeeperSession session) => new(_sessions.Set(session));

    public SessionTable Remove(long id) => new(_sessions.Remove(id));

    /// <param name="owner">Has the node from now on.</param>
    public SessionTable AddEphemeral(long owner, string path)
    {
        var session = _sessions.Find(owner)
            ?? throw new InvalidOperationException($"Session {owner:x} owns '{path}' and does not exist");
        return Set(session with { Ephemerals = session.Ephemerals.Add(path) });
    }

    /// <param name="owner">A session; one that has ended is not looked for.</param>
    public SessionTable RemoveEphemeral(long owner, string path) => _sessions.Find(owner) is { } session
        ? Set(session with { Ephemerals = session.Ephemerals.Remove(path) })
        : this;
}
