namespace Corfu.Hosting;

/// <summary>The roles that a program can serve and probe, and the requests to them.</summary>
public sealed class NodeRoles
{
    private readonly ImmutableArray<INodeRole> _roles;

    private NodeRoles(ImmutableArray<INodeRole> roles)
    {
        _roles = roles;
        foreach (var role in roles)
        {
            if (Find(role.Name) != role)
                throw new ArgumentException($"Two roles have the name '{role.Name}'.", nameof(roles));
            if (role.Role is NodeRole.None or NodeRole.Agent)
                throw new ArgumentException($"'{role.Name}': the number {(byte)role.Role} is taken.", nameof(roles));
            if (Find(role.Role) != role)
                throw new ArgumentException($"Two roles have the number {(byte)role.Role}.", nameof(roles));
        }

        // Every node has an agent.
        Requests = new RequestTable(AgentMessages.AddTo);
        foreach (var role in roles) role.AddRequests(Requests);
    }

    public static INodeRole Unit { get; } = new UnitNodeRole();

    public static INodeRole Acceptor { get; } = new AcceptorNodeRole();

    public static INodeRole Sequencer { get; } = new SequencerNodeRole();

    /// <summary>The roles of the log. Every node knows them, since clients and agents meet them.</summary>
    public static NodeRoles Log { get; } = new([Unit, Acceptor, Sequencer]);

    /// <summary>The requests of all these roles and of agents.</summary>
    public RequestTable Requests { get; }

    /// <exception cref="ArgumentException">A name, a number or an opcode is taken.</exception>
    public NodeRoles With(params ReadOnlySpan<INodeRole> further) => new([.. _roles, .. further]);

    public INodeRole? Find(NodeRole role) => _roles.FirstOrDefault(known => known.Role == role);

    public INodeRole? Find(string? name) =>
        _roles.FirstOrDefault(known => known.Name.Equals(name, StringComparison.OrdinalIgnoreCase));

    /// <summary>Asks a role how it is; one that does not answer is <see cref="RoleAnswer.Silent"/>. Changes
    /// nothing.</summary>
    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, NodeRole role, CancellationToken cancellationToken)
    {
        if (Find(role) is not { } known) return new RoleAnswer(true, Epoch.None, "");
        try
        {
            return await known.ProbeAsync(transport, node, cancellationToken);
        }
        catch (CorfuException e)
        {
            return RoleAnswer.Silent(e.Message);
        }
    }

    /// <inheritdoc cref="INodeRole.DutyIn"/>
    public string DutyIn(Projection? projection, NodeRole role, NodeId id, RoleAnswer answer) =>
        Find(role)?.DutyIn(projection, id, answer) ?? "serving";

    /// <summary>The names, for messages.</summary>
    public override string ToString() => string.Join(", ", _roles.Select(role => role.Name));
}
