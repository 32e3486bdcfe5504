namespace Corfu.Agent;

/// <summary>Finds the processes of the cluster, probes them, and judges their roles. A process that this agent watches
/// (<see cref="PeerTable"/>) is probed at <see cref="DetectorOptions.Interval"/> through its agent, its roles at
/// <see cref="AgentOptions.SlowInterval"/>, and all at once when its agent does not answer. In every
/// <see cref="AgentOptions.SlowInterval"/> one of the other processes is polled, so that spares and leaders are known;
/// this agent never holds them gone. Everything is guarded by the agent's gate.</summary>
internal sealed class Monitor(Lock gate, AgentOptions options, NodeId self, ClusterView view, Prober prober,
    ITransport probes, TimeProvider time, AgentClock clock, ILogger logger)
{
    private readonly DetectorCore _detector = new(options.Detector);
    private readonly PeerTable _peers = new(options.Self, options.ForgetPeerAfter);

    // Sorted, so that nothing depends on how keys hash.
    private readonly SortedDictionary<NodeId, MonitoredNode> _nodes = [];
    private bool _nodesAreStale = true;

    // The endpoint at which each identity answered last. Replaced whole; read without the gate.
    private volatile Dictionary<NodeId, NodeEndpoint> _located = [];
    private TimeSpan _nextPoll;
    private CancellationToken _stopped;

    /// <summary>Called outside the gate when a node was found gone.</summary>
    public Action FoundGone { get; set; } = static () => { };

    // Guarded by the caller, like everything below that is not async and takes no gate.
    public IEnumerable<MonitoredNode> Nodes => _nodes.Values;

    public MonitoredNode? Find(NodeId id) => _nodes.GetValueOrDefault(id);

    /// <summary>The endpoint at which an identity answered last; null: not known. While a node moves, the projection
    /// names another.</summary>
    public NodeEndpoint? Locate(NodeId id) => _located.TryGetValue(id, out var endpoint) ? endpoint : null;

    public IEnumerable<MonitoredNode> Agents => _nodes.Values.Where(node => node.Role == NodeRole.Agent);

    /// <summary>Processes to tell other agents of.</summary>
    public ImmutableArray<NodeEndpoint> Heard => [.. _peers.Heard(clock.Now)];

    public void AddPeer(NodeEndpoint endpoint) => _peers.Add(endpoint, clock.Now);

    /// <summary>The nodes of a newer projection are monitored from the next step on.</summary>
    public void Learn(Projection projection)
    {
        _nodesAreStale = true;
        foreach (var node in NodesOf(projection)) AddPeer(node.Endpoint);
    }

    /// <summary>A ping has come from another agent.</summary>
    public void Hear(NodeAddress agent, bool isLeaving)
    {
        AddPeer(agent.Endpoint);
        if (_peers.Find(agent.Endpoint) is not { } peer) return;
        peer.Hear(clock.Now);
        // Another identity: the process was started again.
        if (peer.Agent != agent.Id) peer.NextDescribe = Min(peer.NextDescribe, clock.Now);
        if (!isLeaving) return;
        foreach (var node in _nodes.Values.Where(node => node.Address.Endpoint == agent.Endpoint))
            _detector.RecordLeaving(node.Address.Id, clock.Now);
    }

    /// <summary>Starts the probes that are due.</summary>
    /// <returns>How long until the next ones are due.</returns>
    public TimeSpan Step(CancellationToken stopped)
    {
        List<Peer> describing = [];
        List<MonitoredNode> probing = [];
        TimeSpan next;
        lock (gate)
        {
            _stopped = stopped;
            var now = clock.Now;
            _detector.Tick(now);
            if (view.Projection is { } projection
                && _peers.Forget(endpoint => NodesOf(projection).Any(node => node.Endpoint == endpoint), now))
                _nodesAreStale = true;
            if (_nodesAreStale) ChooseNodes();
            ChooseWatched(now);
            PollNext(now);
            foreach (var peer in _peers.All)
            {
                if (peer.IsDescribing || now < peer.NextDescribe) continue;
                peer.IsDescribing = true;
                describing.Add(peer);
            }

            next = NextTick(now) - now;
            foreach (var node in _nodes.Values)
            {
                if (node.IsProbing) continue;
                var rest = node.NextProbe - now;
                // Due before the next step can come.
                if (rest < options.Step)
                {
                    node.IsProbing = true;
                    probing.Add(node);
                }
                else
                {
                    next = Min(next, rest);
                }
            }
        }

        foreach (var peer in describing) _ = DescribeAsync(peer).ReportAsync(logger);
        foreach (var node in probing) _ = ProbeAsync(node).ReportAsync(logger);
        return next < options.Step ? options.Step : next;
    }

    public NodeVerdict VerdictOf(MonitoredNode node)
    {
        if (!_detector.Watches(node.Address.Id))
            return new NodeVerdict(node.Answers ? NodeHealth.Alive : NodeHealth.Unknown, TimeSpan.Zero, 0,
                Note: "watched by other agents");
        var verdict = _detector.Judge(node.Address.Id, clock.Now);
        if (verdict.Health is NodeHealth.Failed or NodeHealth.Full && node.Says.Length > 0)
            return verdict with { Note = $"says {node.Says}, for {NodeVerdict.Seconds(verdict.Since)}" };
        return verdict.Health == NodeHealth.Silent && node.IsReachedByOthers
            ? verdict with { Health = NodeHealth.Partitioned, Note = $"{verdict.Why}, but another agent reaches it" }
            : verdict;
    }

    public bool IsAlive(MonitoredNode node) => VerdictOf(node).Health == NodeHealth.Alive;

    public NodeDuty DutyOf(MonitoredNode node)
    {
        if (view.Projection is not { } projection) return NodeDuty.None;
        var id = node.Address.Id;
        if (node.Role == NodeRole.Agent || projection.HasUnit(id) || projection.Sequencer.Id == id
            || projection.Acceptors.Any(acceptor => acceptor.Id == id)) return NodeDuty.Serving;
        if (node.Role != NodeRole.Unit) return NodeDuty.Standby;
        return node.IsFresh ? NodeDuty.Spare : node.Epoch > Epoch.None ? NodeDuty.Removed : NodeDuty.None;
    }

    /// <summary>Spares or standbys that answer, in the order of their endpoints: every agent takes the same.</summary>
    public ImmutableArray<NodeAddress> Waiting(NodeRole role) =>
    [
        .. from node in _nodes.Values
           where node.Role == role && DutyOf(node) is NodeDuty.Spare or NodeDuty.Standby && IsAlive(node)
               && clock.Now >= node.PausedUntil
           orderby node.Address.Endpoint, node.Address.Id
           select node.Address,
    ];

    /// <summary>Live agents that act before this one about a process: those between the two.</summary>
    public int RankFor(NodeEndpoint process, Predicate<NodeEndpoint> isGoing) =>
        _peers.AgentsBetween(process, peer => !isGoing(peer.Endpoint) && IsAgentAlive(peer));

    /// <summary>The agents of other processes, those that watch a process first.</summary>
    public IEnumerable<MonitoredNode> AgentsBehind(NodeEndpoint process) =>
        _peers.Behind(process).Where(peer => peer.Endpoint != options.Self).Select(peer => Find(peer.Agent))
            .OfType<MonitoredNode>();

    /// <summary>The live agent just before this one in the order of endpoints; null: this is the first one.</summary>
    public NodeAddress? Predecessor =>
        Agents.Where(agent => agent.Address.Endpoint.CompareTo(options.Self) < 0 && IsAlive(agent))
            .Select(agent => (NodeAddress?)agent.Address).MaxBy(agent => agent!.Value.Endpoint);

    /// <summary>Another agent asked about a node and this one probed it.</summary>
    public void Record(NodeId id, ProbeSample sample) => _detector.Record(id, sample, clock.Now);

    /// <summary>Another agent reaches a node that is silent here.</summary>
    public void Partitioned(MonitoredNode node)
    {
        node.IsReachedByOthers = true;
        Report(node);
    }

    private bool IsAgentAlive(Peer peer) => Find(peer.Agent) is { } agent && IsAlive(agent);

    // Monitored are the projection's nodes and the roles of all known processes: spares, standbys, agents.
    private void ChooseNodes()
    {
        _nodesAreStale = false;
        SortedDictionary<NodeId, (NodeAddress Address, NodeRole Role)> wanted = [];
        if (view.Projection is { } projection)
        {
            foreach (var unit in projection.Units) wanted[unit.Id] = (unit, NodeRole.Unit);
            foreach (var acceptor in projection.Acceptors) wanted[acceptor.Id] = (acceptor, NodeRole.Acceptor);
            wanted[projection.Sequencer.Id] = (projection.Sequencer, NodeRole.Sequencer);
        }

        Dictionary<NodeId, NodeEndpoint> located = [];
        // A node that has moved is not dead at its old address.
        foreach (var peer in _peers.All.OrderBy(peer => peer.LastHeard))
        {
            foreach (var role in peer.Roles.Where(role => role.Id != self))
            {
                if (wanted.TryGetValue(role.Id, out var named) && !HasLeft(role.Id, named.Address.Endpoint, peer))
                    continue;
                wanted[role.Id] = (new NodeAddress(role.Id, peer.Endpoint), role.Role);
                located[role.Id] = peer.Endpoint;
            }
        }

        _located = located;

        foreach (var id in _nodes.Keys.Where(id => !wanted.ContainsKey(id)).ToList())
        {
            _nodes.Remove(id);
            _detector.Forget(id);
        }

        foreach (var (id, (address, role)) in wanted)
        {
            if (_nodes.TryGetValue(id, out var known) && known.Address == address) continue;
            _nodes[id] = new MonitoredNode(address, role);
            _detector.Forget(id);
        }
    }

    // Two processes with one identity: one has a copied folder, and would forget what the other promises (R2). The
    // process that the projection names counts as long as it answers.
    private bool HasLeft(NodeId id, NodeEndpoint endpoint, Peer other) => endpoint == other.Endpoint
        || (!other.IsSilent && _peers.Find(endpoint) is { } there
            && (there.IsSilent || (!there.Roles.IsEmpty && there.Roles.All(role => role.Id != id))));

    private void ChooseWatched(TimeSpan now)
    {
        var isAnyGone = _nodes.Values.Any(node => DutyOf(node) == NodeDuty.Serving
            && VerdictOf(node) is { IsGone: true } or { Health: NodeHealth.Partitioned });
        _peers.Watch(IsAgentAlive, isAnyGone);
        foreach (var node in _nodes.Values)
        {
            var isWatched = _peers.Find(node.Address.Endpoint) is null or { IsWatched: true };
            if (isWatched == _detector.Watches(node.Address.Id)) continue;
            if (isWatched) _detector.Watch(node.Address, node.Role, now, node.HasAnswered);
            else _detector.Forget(node.Address.Id);
            node.NextProbe = isWatched ? now : TimeSpan.MaxValue;
        }
    }

    private void PollNext(TimeSpan now)
    {
        if (now < _nextPoll) return;
        _nextPoll = NextTick(now + options.SlowInterval - options.Detector.Interval);
        if (_peers.NextToPoll() is not { } peer) return;
        foreach (var node in _nodes.Values.Where(node => node.Address.Endpoint == peer.Endpoint)) node.NextProbe = now;
    }

    private async Task DescribeAsync(Peer peer)
    {
        NodeDescription? description = null;
        try
        {
            using var timeout = new CancellationTokenSource(options.ProbeTimeout, time);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, _stopped);
            description = await probes.DescribeAsync(peer.Endpoint, either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // The process does not answer: its known roles are probed one by one.
        }
        finally
        {
            lock (gate)
            {
                peer.IsDescribing = false;
                if (peer.IsSilent != description is null) _nodesAreStale = true;
                peer.IsSilent = description is null;
                if (description is not null)
                {
                    peer.Hear(clock.Now);
                    if (!peer.Roles.AsSpan().SequenceEqual(description.Roles.AsSpan())) _nodesAreStale = true;
                    peer.Roles = description.Roles;
                }

                // Asked again only when its agent does not answer any more.
                peer.NextDescribe = description is null || peer.Agent.IsNone
                    ? clock.Now + options.SlowInterval
                    : TimeSpan.MaxValue;
            }
        }
    }

    private async Task ProbeAsync(MonitoredNode node)
    {
        Probe probe;
        try
        {
            probe = await prober.ProbeAsync(node.Role, node.Address, options.ProbeTimeout, _stopped);
        }
        catch
        {
            // A fault of the prober: the caller reports it, and the node goes on being probed.
            lock (gate)
            {
                node.IsProbing = false;
                node.NextProbe = clock.Now + options.SlowInterval;
            }

            throw;
        }

        var (sample, answer) = probe;
        bool isGone;
        lock (gate)
        {
            var now = clock.Now;
            node.IsProbing = false;
            _detector.Record(node.Address.Id, sample, now);
            if (sample.Outcome != ProbeOutcome.None) node.Answers = sample.IsAnswer;
            if (sample.IsAnswer)
            {
                node.HasAnswered = true;
                node.IsReachedByOthers = false;
            }

            Learn(node, answer);
            if (_peers.Find(node.Address.Endpoint) is { } peer) Learn(peer, node, sample, now);
            node.NextProbe = NextProbe(node, sample, now);
            isGone = Report(node);
        }

        if (isGone) FoundGone();
        if (sample.Outcome == ProbeOutcome.Answered) await CatchUpAsync(node);
        if (!sample.IsAnswer && !isGone) await StepSoonAsync();
    }

    // A node that did not answer is probed again before the next tick.
    private async Task StepSoonAsync()
    {
        await Task.Delay(options.Step, time, _stopped).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_stopped.IsCancellationRequested) Step(_stopped);
    }

    private void Learn(Peer peer, MonitoredNode node, ProbeSample sample, TimeSpan now)
    {
        if (sample.IsAnswer) peer.Hear(now);
        // A removed unit that has formatted itself anew is another role of the same process.
        if (sample.Outcome == ProbeOutcome.Replaced && peer.Roles.Any(role => role.Id == node.Address.Id))
            peer.NextDescribe = Min(peer.NextDescribe, now);
        if (node.Role != NodeRole.Agent || sample.Outcome == ProbeOutcome.None) return;
        peer.AgentAnswers = sample.IsAnswer;
        if (sample.IsAnswer) return;
        // The process's state shows in its other roles, which may be new ones.
        peer.NextDescribe = Min(peer.NextDescribe, now);
        foreach (var other in _nodes.Values.Where(
            other => other.Address.Endpoint == peer.Endpoint && other.Role != NodeRole.Acceptor))
            other.NextProbe = Min(other.NextProbe, now);
    }

    private void Learn(MonitoredNode node, Response? answer)
    {
        switch (answer)
        {
            case UnitInfoResponse unit:
                node.Says = unit.Reason;
                if (!unit.IsOk) break;
                node.Epoch = unit.Installed;
                node.IsFresh = unit.Installed == Epoch.None && unit.Pages == 0 && unit.End == LogPosition.Zero;
                view.Hint(unit.Installed);
                break;
            case SequencerInfoResponse { IsOk: true } sequencer:
                node.Epoch = sequencer.Epoch;
                view.Hint(sequencer.Epoch);
                break;
            case LayoutResponse { Latest: { } latest }:
                view.Hint(latest.Epoch);
                break;
            case PingResponse { IsOk: true } ping:
                view.Hint(ping.Epoch);
                view.Adopt(ping.Automation);
                foreach (var peer in ping.Peers) AddPeer(peer);
                break;
        }
    }

    private TimeSpan NextProbe(MonitoredNode node, ProbeSample sample, TimeSpan now)
    {
        if (!_detector.Watches(node.Address.Id)) return TimeSpan.MaxValue;
        if (sample.Outcome == ProbeOutcome.Answered)
        {
            var hasAgent = _peers.Find(node.Address.Endpoint) is { AgentAnswers: true };
            var isSlow = node.Role == NodeRole.Acceptor || (node.Role != NodeRole.Agent && hasAgent);
            return NextTick(isSlow ? now + options.SlowInterval - options.Detector.Interval : now);
        }

        // Probed often until the verdict is certain. After that, the repair needs the processors more.
        if (!VerdictOf(node).IsGone) return now + options.Step;
        return now + (DutyOf(node) == NodeDuty.Serving ? options.Detector.Interval : options.SlowInterval);
    }

    // Healthy nodes are probed at the same instants: an idle process costs its wake-ups. A step that comes shortly
    // before a tick stands for it.
    private TimeSpan NextTick(TimeSpan now)
    {
        var interval = options.Detector.Interval.Ticks;
        return new TimeSpan(((now + options.Step).Ticks / interval + 1) * interval);
    }

    // R14: a node that serves an older epoch gets the newest, again and again while it is behind. The first time
    // nothing is sent, because the proposer installs an epoch everywhere itself.
    private async Task CatchUpAsync(MonitoredNode node)
    {
        Projection? newest;
        lock (gate)
        {
            newest = view.Projection;
            var isNamed = newest is not null
                && (newest.HasUnit(node.Address.Id) || newest.Sequencer.Id == node.Address.Id);
            if (!isNamed || node.Epoch >= newest!.Epoch || clock.Now < node.NextInstall) return;
            var isFirst = node.NextInstall == TimeSpan.Zero;
            node.NextInstall = clock.Now + options.SlowInterval;
            if (isFirst) return;
        }

        AckRequest request = node.Role == NodeRole.Unit ? new InstallRequest(newest) : new BootstrapRequest(newest);
        await probes.TryCallAsync(node.Address, request, options.ProbeTimeout, time, _stopped);
    }

    // True when the node was found gone just now.
    private bool Report(MonitoredNode node)
    {
        var verdict = VerdictOf(node);
        var before = node.Reported;
        if (verdict.Health == before || !_detector.Watches(node.Address.Id)) return false;
        node.Reported = verdict.Health;
        var name = $"{node.Role} {node.Address.Endpoint}";
        if (verdict.Health == NodeHealth.Alive && before != NodeHealth.Unknown)
            AgentLog.Recovered(logger, name, before.ToString());
        if (verdict.Health is NodeHealth.Alive or NodeHealth.Unknown) return false;
        AgentTelemetry.Suspicions.Add(1, new KeyValuePair<string, object?>("health", verdict.Health.ToString()));
        AgentLog.Verdict(logger, name, verdict.Health.ToString(), verdict.Why);
        return verdict.IsGone;
    }

    private static IEnumerable<NodeAddress> NodesOf(Projection projection) =>
        [.. projection.Units, .. projection.Acceptors, projection.Sequencer];

    private static TimeSpan Min(TimeSpan a, TimeSpan b) => a < b ? a : b;
}
