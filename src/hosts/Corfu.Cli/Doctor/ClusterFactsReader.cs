using Corfu.Agent;
using Corfu.Client.Layout;

namespace Corfu.Cli;

/// <summary>Asks every process of a running cluster. Changes nothing.</summary>
internal sealed class ClusterFactsReader(AdminSession session, TimeProvider time)
{
    private const int ReachAttempts = 3;

    // The positions that tell the log's growth: far enough apart to outlast bursts, near enough to be of today's use.
    private const long GrowthSpan = 1_000_000;
    private const int GrowthCandidates = 16;
    private static readonly TimeSpan ShortestGrowth = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan ReachPause = TimeSpan.FromMilliseconds(400);

    public async Task<ClusterFacts> ReadAsync(CancellationToken cancellationToken)
    {
        var agents = await session.AgentsAsync(cancellationToken);
        var (projection, hasMajority) = await RefreshAsync(cancellationToken);
        var answers = await ProbeAsync(projection, agents, cancellationToken);
        var nodes = agents.OrderByDescending(agent => agent.Info.Epoch).SelectMany(agent => agent.Info.Nodes)
            .ToImmutableArray();
        var members = await Task.WhenAll(EndpointsOf(projection, nodes, agents)
            .Select(endpoint => MemberAsync(endpoint, agents, answers, cancellationToken)));
        var newest = agents.MaxBy(agent => agent.Info.Epoch)?.Info;
        return new ClusterFacts(projection, ClusterVerdict.Of(hasMajority ? projection : null,
            id => answers.GetValueOrDefault(id).Answer))
        {
            Members = [.. members],
            Reach = await ReachAsync(agents, cancellationToken),
            Growth = await GrowthAsync(cancellationToken),
            IsAutomatic = newest?.Automation.IsOn,
            Held = [.. agents.Select(agent => agent.Info.Note).Where(note => note.Length > 0).Distinct()],
            Nodes = nodes,
            Now = time.GetUtcNow(),
        };
    }

    private async Task<(Projection Projection, bool HasMajority)> RefreshAsync(CancellationToken cancellationToken)
    {
        try
        {
            return (await session.Cluster.RefreshAsync(cancellationToken), true);
        }
        catch (LayoutUnavailableException)
        {
            return (session.Cluster.Projection, false);
        }
    }

    private async Task<Dictionary<NodeId, (NodeAddress Address, RoleAnswer? Answer)>> ProbeAsync(
        Projection projection, ImmutableArray<AgentAnswer> agents, CancellationToken cancellationToken)
    {
        var named = projection.Units.Select(unit => (Address: unit, Role: NodeRole.Unit))
            .Concat(projection.Acceptors.Select(acceptor => (Address: acceptor, Role: NodeRole.Acceptor)))
            .Append((Address: projection.Sequencer, Role: NodeRole.Sequencer));
        var answering = from agent in agents
                        from role in agent.Roles
                        where role.Role != NodeRole.Agent
                        select (Address: new NodeAddress(role.Id, agent.Agent.Endpoint), role.Role);
        var answers = await Task.WhenAll(named.Concat(answering).DistinctBy(node => node.Address.Id).Select(
            async node => (node.Address, Answer: await NodeRoles.Log.ProbeAsync(
                session.Transport, node.Address, node.Role, cancellationToken))));
        return answers.ToDictionary(answer => answer.Address.Id,
            answer => (answer.Address, (RoleAnswer?)answer.Answer));
    }

    // Processes that were removed and are gone are no members any more.
    private static IEnumerable<NodeEndpoint> EndpointsOf(
        Projection projection, ImmutableArray<NodeReport> nodes, ImmutableArray<AgentAnswer> agents) =>
        agents.Select(agent => agent.Agent.Endpoint)
            .Concat(projection.Units.Select(unit => unit.Endpoint))
            .Concat(projection.Acceptors.Select(acceptor => acceptor.Endpoint))
            .Append(projection.Sequencer.Endpoint)
            .Concat(nodes.Where(node => node.Duty is NodeDuty.Spare or NodeDuty.Standby
                    && node.Health is not (NodeHealth.Replaced or NodeHealth.Unknown))
                .Select(node => node.Address.Endpoint))
            .Distinct().Order();

    private async Task<MemberFacts> MemberAsync(NodeEndpoint endpoint, ImmutableArray<AgentAnswer> agents,
        Dictionary<NodeId, (NodeAddress Address, RoleAnswer? Answer)> answers, CancellationToken cancellationToken)
    {
        var units = agents.Where(agent => agent.Agent.Endpoint == endpoint)
            .SelectMany(agent => agent.Roles).Where(role => role.Role == NodeRole.Unit).ToList();
        var member = new MemberFacts(endpoint)
        {
            StoredBytes = units.Count == 0
                ? null
                : units.Sum(unit => answers.GetValueOrDefault(unit.Id).Answer?.StoredBytes ?? 0),
        };
        if (agents.FirstOrDefault(agent => agent.Agent.Endpoint == endpoint) is not { } known)
            return member with { Silence = await SilenceOfAsync(endpoint, cancellationToken) };
        try
        {
            var (asked, began) = (time.GetUtcNow(), time.GetTimestamp());
            var answer = await session.Transport.CallAsync(
                known.Agent, new ProcessInfoRequest(Epoch.None), cancellationToken);
            var half = time.GetElapsedTime(began) / 2;
            if (answer.Process is not { } process)
                return member with
                {
                    Unreported = answer.Status == Status.Denied
                        ? "the certificate of this command does not allow the question: take one of the role admin"
                        : "its build is older and does not describe itself",
                };
            return member with { Process = process, ClockOffset = process.Now - (asked + half), ClockError = half };
        }
        catch (TransportException e)
        {
            return member with { Silence = e.Message };
        }
    }

    private async Task<string> SilenceOfAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            await session.Transport.DescribeAsync(endpoint, cancellationToken);
            return "its agent does not answer";
        }
        catch (TransportException e)
        {
            return e.Message;
        }
    }

    // An agent probes the other one before it answers, so its word is of now.
    private async Task<ImmutableArray<ReachFact>> ReachAsync(
        ImmutableArray<AgentAnswer> agents, CancellationToken cancellationToken) =>
    [
        .. (await Task.WhenAll(agents.Select(async from =>
        {
            List<ReachFact> facts = [];
            foreach (var to in agents.Where(other => other.Agent != from.Agent))
                facts.Add(await ReachAsync(from, to.Agent, cancellationToken));
            return facts;
        }))).SelectMany(facts => facts),
    ];

    private async Task<ReachFact> ReachAsync(AgentAnswer agent, NodeAddress to, CancellationToken cancellationToken)
    {
        var (from, why) = (agent.Agent, "");
        for (var attempt = 0; attempt < ReachAttempts; attempt++)
        {
            if (attempt > 0) await Task.Delay(ReachPause, time, cancellationToken);
            try
            {
                var answer = await session.Transport.CallAsync(
                    from, new SuspicionRequest(Epoch.None, NodeRole.Agent, to), cancellationToken);
                if (answer.Status == Status.Denied) return Watched(agent, to.Endpoint);
                if (!answer.IsOk) return new ReachFact(from.Endpoint, to.Endpoint, null, $"answers {answer.Status}");
                if (answer.Answers) return new ReachFact(from.Endpoint, to.Endpoint, true, "");
                why = $"{answer.Health.ToString().ToLowerInvariant()} {answer.Why}".TrimEnd();
            }
            catch (TransportException e)
            {
                return new ReachFact(from.Endpoint, to.Endpoint, null, e.Message);
            }
        }

        return new ReachFact(from.Endpoint, to.Endpoint, false, why);
    }

    // Nodes alone may ask for a probe; an administrator sees what the agent watches by itself.
    private static ReachFact Watched(AgentAnswer agent, NodeEndpoint to)
    {
        var reports = agent.Info.Nodes.Where(node => node.Address.Endpoint == to).ToList();
        var cut = reports.FirstOrDefault(
            node => node.Health is NodeHealth.Silent or NodeHealth.Dead or NodeHealth.Partitioned);
        return cut is not null ? new ReachFact(agent.Agent.Endpoint, to, false, $"{cut.Health} {cut.Why}".TrimEnd())
            : reports.Any(node => node.Health == NodeHealth.Alive)
                ? new ReachFact(agent.Agent.Endpoint, to, true, "")
                : new ReachFact(agent.Agent.Endpoint, to, null, "that agent does not watch it");
    }

    private async Task<LogGrowth?> GrowthAsync(CancellationToken cancellationToken)
    {
        try
        {
            var tail = (await session.Client.CheckAsync([], cancellationToken: cancellationToken)).Tail.Offset;
            var mark = (await session.Client.ReadTrimMarkAsync(cancellationToken)).Offset;
            var newest = await EntryAsync(tail - GrowthCandidates, mark, tail, cancellationToken);
            var oldest = await EntryAsync(tail - GrowthSpan, mark, tail, cancellationToken);
            if (newest is null || oldest is null) return null;
            var span = newest.WriterTime - oldest.WriterTime;
            return span < ShortestGrowth
                ? null
                : new LogGrowth((newest.Position - oldest.Position) / span.TotalDays, tail - mark);
        }
        catch (CorfuException)
        {
            return null;
        }
    }

    private async Task<LogEntry?> EntryAsync(long from, long mark, long tail, CancellationToken cancellationToken)
    {
        var first = Math.Max(from, mark);
        var positions = Enumerable.Range(0, (int)Math.Clamp(tail - first, 0, GrowthCandidates))
            .Select(i => new LogPosition(first + i)).ToImmutableArray();
        if (positions.IsEmpty) return null;
        var read = await session.Client.ReadManyAsync(
            positions, ReadDetail.Headers, ReadMode.Observe, cancellationToken);
        return read.FirstOrDefault(page => page.IsData).Entry;
    }
}
