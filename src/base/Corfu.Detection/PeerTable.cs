namespace Corfu.Detection;

/// <summary>A process of the cluster, as its handshake describes it.</summary>
internal sealed class Peer(NodeEndpoint endpoint, TimeSpan added)
{
    public NodeEndpoint Endpoint => endpoint;

    public ImmutableArray<RoleIdentity> Roles { get; set; } = [];

    public NodeId Agent => Roles.FirstOrDefault(role => role.Role == NodeRole.Agent).Id;

    public bool IsWatched { get; set; }

    /// <summary>Whether its agent answered the last probe.</summary>
    public bool AgentAnswers { get; set; }

    /// <summary>The time of the last answer or ping; before the first one, when the process was added.</summary>
    public TimeSpan LastHeard { get; private set; } = added;

    public bool WasHeard { get; private set; }

    /// <summary>The time of the next request for the roles that it serves.</summary>
    public TimeSpan NextIdentify { get; set; }

    public bool IsIdentifying { get; set; }

    /// <summary>Whether it did not answer when it was asked last.</summary>
    public bool IsSilent { get; set; }

    public void Hear(TimeSpan now)
    {
        LastHeard = now;
        WasHeard = true;
    }

    /// <summary>The process is asked for its roles no later than this.</summary>
    public void IdentifyBy(TimeSpan time)
    {
        if (time < NextIdentify) NextIdentify = time;
    }
}

/// <summary>The processes of the cluster in the order of their endpoints, and which this agent watches. Every process
/// is watched by the next <see cref="Watchers"/> live agents behind it in that order, which begins again at its end. An
/// agent finds its processes without asking: it goes back from itself until it has met that many live agents, and
/// watches all on the way, dead processes included.</summary>
internal sealed class PeerTable(NodeEndpoint self, TimeSpan forgetAfter)
{
    // Enough for a second observer when one watcher is gone too.
    private const int Watchers = 3;

    private const int MaxPeers = 1024;

    private readonly SortedDictionary<NodeEndpoint, Peer> _peers = [];
    private NodeEndpoint _lastPolled;

    public IEnumerable<Peer> All => _peers.Values;

    public Peer? Find(NodeEndpoint endpoint) => _peers.GetValueOrDefault(endpoint);

    /// <summary>Ignored beyond <see cref="MaxPeers"/>.</summary>
    public void Add(NodeEndpoint endpoint, TimeSpan now)
    {
        if (_peers.Count < MaxPeers && !_peers.ContainsKey(endpoint)) _peers.Add(endpoint, new Peer(endpoint, now));
    }

    /// <summary>Drops processes that were silent for long and that the epoch does not name. Agents tell each other
    /// only of processes that they have heard themselves (<see cref="Heard"/>), or they would never forget one that is
    /// gone.</summary>
    /// <returns>Whether any was dropped.</returns>
    public bool Forget(Func<NodeEndpoint, bool> isNamed, TimeSpan now)
    {
        List<Peer> silent = [.. _peers.Values.Where(
            p => p.Endpoint != self && now - p.LastHeard >= forgetAfter && !isNamed(p.Endpoint))];
        foreach (var peer in silent) _peers.Remove(peer.Endpoint);
        return silent.Count > 0;
    }

    /// <summary>Processes to tell other agents of.</summary>
    public IEnumerable<NodeEndpoint> Heard(TimeSpan now) =>
        from peer in _peers.Values
        where peer.Endpoint == self || (peer.WasHeard && now - peer.LastHeard < forgetAfter)
        select peer.Endpoint;

    /// <summary>Decides which processes this agent watches. Its own is among them.</summary>
    /// <param name="all">Everything: a node of the projection is gone, and what follows depends on all others.</param>
    public void Watch(Predicate<Peer> isAgentAlive, bool all)
    {
        var agents = 0;
        foreach (var peer in Backwards())
        {
            peer.IsWatched = all || agents < Watchers;
            if (Planted.Is("any-process-is-a-watcher") || isAgentAlive(peer)) agents++;
        }

        if (Find(self) is { } own) own.IsWatched = true;
    }

    /// <summary>Live agents between a process and this one: none for the first of its watchers.</summary>
    public int AgentsBetween(NodeEndpoint process, Predicate<Peer> isAgentAlive)
    {
        var agents = 0;
        foreach (var peer in Backwards())
        {
            if (peer.Endpoint == process) return agents;
            if (isAgentAlive(peer)) agents++;
        }

        return agents;
    }

    /// <summary>The processes behind one in the order: those of its watchers first.</summary>
    public IEnumerable<Peer> Behind(NodeEndpoint process) =>
        _peers.Values.Where(p => p.Endpoint.CompareTo(process) > 0)
            .Concat(_peers.Values.Where(p => p.Endpoint.CompareTo(process) < 0));

    /// <summary>The next process that is not watched, one after another; null: all are.</summary>
    public Peer? NextToPoll()
    {
        var next = Behind(_lastPolled).Append(Find(_lastPolled)).FirstOrDefault(p => p is { IsWatched: false });
        if (next is not null) _lastPolled = next.Endpoint;
        return next;
    }

    private IEnumerable<Peer> Backwards() => Behind(self).Reverse();
}
