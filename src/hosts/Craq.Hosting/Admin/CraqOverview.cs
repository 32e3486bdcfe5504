namespace Craq.Hosting;

/// <summary>The directory at a moment.</summary>
public sealed record CraqOverview(
    ImmutableArray<CraqNodeInfo> Nodes, ImmutableArray<ChainConfig> Chains, ImmutableArray<KeyspaceView> Keyspaces)
{
    /// <summary>The endpoints of the nodes that are registered, as a connection string for clients.</summary>
    /// <param name="log">The log's, whose encryption and certificates count for the nodes too.</param>
    /// <exception cref="CraqNotFoundException">No node is registered.</exception>
    public CraqConnectionString ConnectionString(Corfu.Client.ConnectionString log)
    {
        var running = Nodes.Where(node => node.State != CraqNodeState.Gone).Select(node => node.Endpoint)
            .Take(CraqConnectionString.MaxEndpoints).ToImmutableArray();
        if (running.IsEmpty)
            throw new CraqNotFoundException("No CRAQ node is registered in the log's directory: 'corfu craq up' starts "
                + "some on this machine, 'corfu craq node init' makes one that joins.");
        return new CraqConnectionString(running)
        {
            IsTls = log.IsTls,
            IsInsecure = log.IsInsecure,
            Certificates = log.Certificates,
            Cluster = log.Cluster,
        };
    }

    /// <summary>The address of a node; null: the directory does not know it.</summary>
    public CraqNodeInfo? Find(NodeId node) => Nodes.FirstOrDefault(own => own.Id == node);
}

/// <summary>A node as it has registered itself.</summary>
/// <param name="Chains">Chains that it is a member of.</param>
public sealed record CraqNodeInfo(
    NodeId Id, string Datacenter, NodeEndpoint Endpoint, CraqNodeState State, int Chains);

/// <summary>The state of a node in the directory.</summary>
public enum CraqNodeState
{
    /// <summary>Registered, with a lease that has not ended.</summary>
    Active = 0,

    /// <summary>An operator wants its chains elsewhere.</summary>
    Draining = 1,

    /// <summary>The node's lease has ended: it is stopped, or does not reach the log.</summary>
    Gone = 2,
}
