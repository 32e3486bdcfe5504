using System.Net;
using Corfu.Client;

namespace Corfu.Hosting;

/// <summary>The content of <c>cluster.json</c>: the nodes of a cluster folder, with the identities and ports they began
/// with. The file grows when nodes are added and never follows reconfigurations: those live in the layout, and a
/// node's present identities and address in its <c>node.json</c>.</summary>
/// <param name="Format">Version of this file.</param>
/// <param name="Formed">False while the folders are being formatted. Nothing was served before it turned true, so an
/// interrupted creation may be repeated; afterwards a missing folder is a loss and never made anew.</param>
/// <param name="Replicas">Replicas per chain.</param>
public sealed record ClusterManifest(int Format, Guid Cluster, bool Formed, int Replicas,
    ImmutableArray<ManifestNode> Nodes)
{
    public const int CurrentFormat = 1;

    /// <summary>A projection was decided once: where no acceptor knows one now, it is lost, and no first one is made
    /// again.</summary>
    public bool Started { get; init; }

    public ClusterId ClusterId => new(Cluster);

    /// <summary>The units that are meant to take entries, in placement order: in a new cluster those of the first
    /// projection.</summary>
    public ImmutableArray<NodeAddress> ChainUnits() => Addresses(NodeRoles.Unit, spares: false);

    /// <summary>The acceptors of the first projection.</summary>
    public ImmutableArray<NodeAddress> Acceptors() => Addresses(NodeRoles.Acceptor, spares: false);

    /// <summary>The acceptors of the first projection, and the standbys for acceptors that are gone.</summary>
    public ImmutableArray<NodeAddress> AllAcceptors() => Addresses(NodeRoles.Acceptor, spares: true);

    /// <summary>The endpoints of the processes that run sequencers, whose identities are new with every
    /// start.</summary>
    public ImmutableArray<NodeEndpoint> SequencerEndpoints() =>
        [.. Nodes.Where(node => node.Roles.Any(role => role.Is(NodeRoles.Sequencer))).Select(node => node.Endpoint)];

    /// <summary>The endpoint of an identity of this folder; null for others.</summary>
    public NodeEndpoint? Locate(NodeId id) =>
        Nodes.FirstOrDefault(node => node.Roles.Any(role => role.Id == id.Value))?.Endpoint;

    /// <summary>The connection string for clients: the processes that hold the layout.</summary>
    public string ConnectionString()
    {
        var plain = new ConnectionString(Endpoints());
        // At another address plain connections were accepted by name when the cluster was made.
        return (plain with { IsInsecure = !Nodes.All(node => IsLoopback(node.Host)) }).ToString();
    }

    /// <summary>As <see cref="ConnectionString()"/>, encrypted.</summary>
    /// <param name="certificates">The folder of the client's certificate.</param>
    public string ConnectionString(string certificates) =>
        new ConnectionString(Endpoints()) { IsTls = true, Certificates = certificates }.ToString();

    /// <summary>The units, spares and sequencers that there are.</summary>
    public (int Units, int Spares, int Sequencers) Counts() =>
        (ChainUnits().Length, Nodes.Count(node => node.Spare && node.HasUnit), SequencerEndpoints().Length);

    internal static bool IsLoopback(string host) =>
        NodeOptionsValidator.AddressOf(host) is { } address && IPAddress.IsLoopback(address);

    private ImmutableArray<NodeEndpoint> Endpoints() =>
        [.. AllAcceptors().Select(address => address.Endpoint).Distinct()];

    private ImmutableArray<NodeAddress> Addresses(INodeRole role, bool spares) =>
    [
        .. from node in Nodes
           where spares || !node.Spare
           from r in node.Roles
           where r.Is(role)
           select new NodeAddress(new NodeId(r.Id), node.Endpoint),
    ];
}
