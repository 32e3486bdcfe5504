namespace Corfu.Agent;

/// <summary>Shared by an operator's tools: finds nodes by an endpoint or identity, asks the agents, and takes a unit
/// out.</summary>
/// <param name="given">Endpoints that the operator named.</param>
/// <param name="by">The tool, for the epoch's reason.</param>
public sealed class OperatorSession(
    ClusterClient client, ITransport transport, TimeProvider time, ImmutableArray<NodeEndpoint> given, string by)
{
    // An operator named the nodes and does not want to say it again because one was busy.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    public ClusterClient Cluster => client;

    public ClusterOperations Operations => new(client, transport, time) { ProbeTimeout = Patience };

    /// <summary>Copies what new replicas lack; one for each change.</summary>
    public Rebuilder NewRebuilder() => new(client, transport, time);

    /// <summary>Moves closed ranges to other chains; one for each change.</summary>
    public Migrator NewMigrator() => new(client, transport, time);

    /// <summary>The reason that the history gives for a change of this tool.</summary>
    public string Reason(string text) => new ReconfigurationReason(false, by, text).ToString();

    /// <summary>The answers of all agents that can be reached, in the order of their endpoints.</summary>
    public async Task<ImmutableArray<AgentAnswer>> AgentsAsync(CancellationToken cancellationToken)
    {
        var projection = client.Projection;
        var endpoints = given.Concat(projection.Units.Select(unit => unit.Endpoint))
            .Concat(projection.Acceptors.Select(acceptor => acceptor.Endpoint))
            .Append(projection.Sequencer.Endpoint)
            .ToHashSet();
        var answers = (await AskAllAsync(endpoints, cancellationToken)).ToList();
        // Agents know processes that the projection does not name: spares and standbys.
        var more = answers.SelectMany(answer => answer.Info.Nodes).Select(node => node.Address.Endpoint).ToHashSet();
        more.ExceptWith(endpoints);
        answers.AddRange(await AskAllAsync(more, cancellationToken));
        return [.. answers.OrderBy(answer => answer.Agent.Endpoint)];
    }

    /// <summary>The answer of the agent at an endpoint; null if none answers.</summary>
    public static async Task<AgentAnswer?> AskAsync(
        ITransport transport, NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            var description = await transport.DescribeAsync(endpoint, cancellationToken);
            var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Agent);
            if (role.Id.IsNone) return null;
            var agent = new NodeAddress(role.Id, endpoint);
            var info = await transport.CallAsync(agent, new AgentInfoRequest(Epoch.None), cancellationToken);
            return info.IsOk ? new AgentAnswer(agent, info, description.Roles) : null;
        }
        catch (TransportException)
        {
            return null;
        }
    }

    /// <summary>The identity of the role that answers at an endpoint.</summary>
    /// <exception cref="OperatorFaultException">The process serves no such role.</exception>
    public async Task<NodeAddress> FindAsync(
        NodeEndpoint endpoint, NodeRole role, CancellationToken cancellationToken)
    {
        var description = await transport.DescribeAsync(endpoint, cancellationToken);
        var found = description.Roles.FirstOrDefault(candidate => candidate.Role == role);
        return found.Id.IsNone
            ? throw new OperatorFaultException(
                $"The process at {endpoint} runs no {role.ToString().ToLowerInvariant()}.")
            : new NodeAddress(found.Id, endpoint);
    }

    /// <summary>A unit of the projection, by its endpoint or its identity. The unit need not answer.</summary>
    /// <exception cref="OperatorFaultException">The projection names no such unit, or several.</exception>
    public NodeAddress UnitOf(string text)
    {
        var projection = client.Projection;
        var named = projection.Units
            .Where(unit => unit.Endpoint.ToString() == text
                || unit.Id.ToString().StartsWith(text, StringComparison.OrdinalIgnoreCase))
            .ToArray();
        if (named.Length == 1) return named[0];
        var found = named.Length == 0 ? "no unit" : "several units";
        var units = string.Join(", ", projection.Units.Select(unit => unit.Endpoint));
        throw new OperatorFaultException(
            $"'{text}' names {found} of the cluster: give its host:port or its identity. Its units: {units}.");
    }

    /// <summary>Whether the unit serves now, in the newest epoch.</summary>
    public async Task<bool> AnswersAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        try
        {
            return (await transport.CallAsync(
                unit, new UnitInfoRequest(client.Projection.Epoch), cancellationToken)).IsOk;
        }
        catch (TransportException)
        {
            return false;
        }
    }

    /// <summary>Spares or standbys that are well.</summary>
    public async Task<ImmutableArray<NodeAddress>> WaitingAsync(
        NodeDuty duty, NodeRole role, CancellationToken cancellationToken)
    {
        var agents = await AgentsAsync(cancellationToken);
        return [.. agents.SelectMany(agent => agent.Info.Nodes)
            .Where(node => node.Duty == duty && node.Role == role && node.Health == NodeHealth.Alive)
            .Select(node => node.Address).Distinct().OrderBy(address => address.Endpoint)];
    }

    /// <summary>Takes a unit out. A unit that answers serves as a source of copies, and leaves when others hold its
    /// entries.</summary>
    /// <param name="tellDropped">Called if it does not answer, before it is removed at once.</param>
    public async Task<Projection> LeaveAsync(
        NodeAddress unit, ImmutableArray<NodeAddress> replacements, Rebuilder rebuilder, Func<Task> tellDropped,
        CancellationToken cancellationToken)
    {
        if (await AnswersAsync(unit, cancellationToken))
            return await Operations.RetireUnitAsync(
                unit.Id, replacements, rebuilder, Reason($"{unit.Endpoint} retired"), cancellationToken);
        await tellDropped();
        if (replacements.IsEmpty)
            return await Operations.DropUnitAsync(unit.Id, Reason($"{unit.Endpoint} dropped"), cancellationToken);
        await Operations.ReplaceUnitAsync(
            unit.Id, replacements, Reason($"{unit.Endpoint} replaced"), cancellationToken);
        return await rebuilder.RunAsync(cancellationToken);
    }

    /// <summary>Tells every agent whether to reconfigure on its own.</summary>
    /// <exception cref="OperatorFaultException">No agent answers.</exception>
    public async Task SetAutomaticAsync(bool isOn, CancellationToken cancellationToken)
    {
        var agents = await AgentsAsync(cancellationToken);
        if (agents.IsEmpty) throw new OperatorFaultException("No agent answers.");
        var wanted = new Automation(agents.Max(agent => agent.Info.Automation.Version) + 1, isOn);
        foreach (var agent in agents)
        {
            var answer = await transport.CallAsync(agent.Agent, new SetAutomationRequest(Epoch.None, wanted),
                cancellationToken);
            if (answer.Status == Status.Denied) throw new CorfuDeniedException("Automatic reconfiguration");
        }
    }

    private async Task<IEnumerable<AgentAnswer>> AskAllAsync(
        IEnumerable<NodeEndpoint> endpoints, CancellationToken cancellationToken) =>
        (await Task.WhenAll(endpoints.Select(endpoint => AskAsync(transport, endpoint, cancellationToken))))
            .OfType<AgentAnswer>();
}

/// <summary>An agent's answer.</summary>
/// <param name="Roles">The roles of the agent's process.</param>
public sealed record AgentAnswer(NodeAddress Agent, AgentInfoResponse Info, ImmutableArray<RoleIdentity> Roles);

/// <summary>The operator's request makes no sense here; the message says what does. Nothing was done.</summary>
public sealed class OperatorFaultException(string message) : CorfuException(message);
