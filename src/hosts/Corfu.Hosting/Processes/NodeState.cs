namespace Corfu.Hosting;

/// <summary>A role of a node as a status query finds it.</summary>
/// <param name="Node">The node's name; empty for one that the folder does not hold.</param>
/// <param name="Id">For a sequencer that does not run: none.</param>
/// <param name="ProcessId">Null when no process holds the node's folder.</param>
/// <param name="Folder">The folder of the role's data; null for a sequencer.</param>
/// <param name="Serving">Whether the role answered.</param>
/// <param name="Detail">The role's own report, or the reason why it does not answer.</param>
public sealed record NodeState(string Node, NodeRole Role, NodeId Id, NodeEndpoint Endpoint, int? ProcessId,
    string? Folder, bool Serving, string Detail)
{
    /// <summary>As <see cref="INodeRole.DutyIn"/>.</summary>
    public string Duty { get; init; } = "unknown";

    /// <summary>The node's front ends.</summary>
    public ImmutableArray<FrontEndAddress> FrontEnds { get; init; } = [];
}

/// <summary>A cluster as a status query finds it.</summary>
/// <param name="Projection">The newest decided one that a majority of acceptors knows, or null when no majority
/// answers.</param>
public sealed record ClusterState(ClusterId Cluster, string ConnectionString, Projection? Projection,
    ClusterVerdict Verdict, ImmutableArray<NodeState> Nodes)
{
    /// <summary>Addresses at which nodes serve a kind of front end; empty where none does.</summary>
    public ImmutableArray<NodeEndpoint> FrontEndsOf(string kind) =>
    [
        .. Nodes.SelectMany(node => node.FrontEnds).Where(own => own.Kind == kind).Select(own => own.Endpoint)
            .Distinct(),
    ];

    /// <summary>With the certificates of the folder's administrator; null without certificates.</summary>
    public string? AdminConnectionString { get; init; }

    /// <summary>The steps of 'up' that failed, each with the command that mends it.</summary>
    public ImmutableArray<string> Problems { get; init; } = [];
}

/// <param name="Kind">As <see cref="IFrontEnd.Kind"/>.</param>
public readonly record struct FrontEndAddress(string Kind, NodeEndpoint Endpoint);
