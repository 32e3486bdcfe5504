using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.FaultRuns.Machine;
using Corfu.Grpc;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.FaultRuns.Permissions;

/// <summary>A cluster of one node with every role, behind TLS, and the certificates of all kinds of peers.</summary>
internal sealed class SecureNode : IAsyncDisposable
{
    private readonly string _folder;
    private readonly CorfuNode _node;
    private readonly Dictionary<string, CertificateFolder> _peers = [];

    private SecureNode(string folder, CorfuNode node, ClusterId cluster)
    {
        _folder = folder;
        _node = node;
        Cluster = cluster;
    }

    public ClusterId Cluster { get; }

    public Projection Projection { get; private set; } = null!;

    public ImmutableArray<RoleIdentity> Roles => _node.Description.Roles;

    public NodeAddress AddressOf(NodeRole role) => new(Roles.First(one => one.Role == role).Id, _node.Endpoint);

    public TlsCredentials CredentialsOf(string peer) => _peers[peer].Current;

    public static async Task<SecureNode> StartAsync(string folder, CancellationToken stop)
    {
        var cluster = new ClusterId(Guid.NewGuid());
        using var authority = CertificateAuthority.Create(Path.Combine(folder, "ca"), cluster);
        using var impostor = CertificateAuthority.Create(Path.Combine(folder, "ca-other"), cluster);
        using var neighbour = CertificateAuthority.Create(
            Path.Combine(folder, "ca-neighbour"), new ClusterId(Guid.NewGuid()));
        authority.IssueTo(Path.Combine(folder, "own"), new CertificateOrder(AccessRole.Node, "own")
        {
            Hosts = ["127.0.0.1"],
        }).Dispose();

        // As where two clusters of one company trust one root: the identity alone tells them apart.
        CertificateFiles.AddAnchor(Path.Combine(folder, "own"), neighbour.Certificate);
        var options = new NodeOptions
        {
            Name = "own",
            Cluster = cluster.Value,
            Listen = $"127.0.0.1:{FreePort()}",
            FormatNewFolders = true,
            Tls = new TlsOptions { Folder = Path.Combine(folder, "own") },
        };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit, Folder = Path.Combine(folder, "unit") });
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Acceptor, Folder = Path.Combine(folder, "acceptor") });
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Sequencer });
        var node = await CorfuNode.StartAsync(options, NullLoggerFactory.Instance, TimeProvider.System, stop);
        var secure = new SecureNode(folder, node, cluster);
        secure.Issue(authority, FrontEndCells.Granted, AccessRole.Caller);
        foreach (var role in new[] { AccessRole.Caller, AccessRole.Client, AccessRole.Admin, AccessRole.Node })
            secure.Issue(authority, role.ToString().ToLowerInvariant(), role);
        secure.Issue(impostor, PermissionRun.AnotherAuthority, AccessRole.Admin);
        secure.Issue(neighbour, PermissionRun.AnotherCluster, AccessRole.Admin);
        await secure.CreateAsync(stop);
        return secure;
    }

    /// <summary>The newest projection, asked for as an administrator.</summary>
    public async Task<Projection?> LatestAsync(CancellationToken stop)
    {
        using var tls = new ClusterTls(_peers["admin"]);
        using var transport = Connect(tls);
        var layout = new LayoutClient(transport, SystemEntropy.Instance, TimeProvider.System);
        return await layout.ReadLatestAsync([AddressOf(NodeRole.Acceptor)], stop);
    }

    /// <summary>A gRPC front end as a node serves it.</summary>
    public async Task<GrpcFrontEnd> ServeGrpcAsync(CancellationToken stop)
    {
        var access = Path.Combine(_folder, "access.json");
        await File.WriteAllTextAsync(access, FrontEndCells.Grants, stop);
        return await GrpcFrontEnd.StartAsync(
            new GrpcFrontEndOptions(new NodeEndpoint("127.0.0.1", FreePort()), $"corfus://{_node.Endpoint}")
            {
                Tls = _node.Tls,
                AccessFile = access,
                Client = ClientOf(AccessRole.Client),
                AdminClient = ClientOf(AccessRole.Admin),
            },
            NullLoggerFactory.Instance, stop);
    }

    /// <summary>Nodes of the systems beside the log.</summary>
    public Task<SecureStores> ServeStoresAsync(CancellationToken stop)
    {
        var certs = Path.Combine(_folder, "peers", "client");
        return SecureStores.StartAsync(
            _folder, $"corfus://{_node.Endpoint}?certs={certs}", Path.Combine(_folder, "ca"), stop);
    }

    public async ValueTask DisposeAsync()
    {
        await _node.DisposeAsync();
        foreach (var peer in _peers.Values) peer.Dispose();
    }

    private void Issue(CertificateAuthority authority, string peer, AccessRole role)
    {
        var path = Path.Combine(_folder, "peers", peer.Replace(' ', '-'));
        var name = peer == FrontEndCells.Granted ? peer : "peer";
        authority.IssueTo(path, new CertificateOrder(role, name)).Dispose();
        _peers[peer] = CertificateFolder.Open(path);
    }

    private CorfuClientOptions ClientOf(AccessRole role) =>
        new() { Tcp = new TcpTransportOptions { Tls = _node.Tls, Role = role } };

    private TcpTransport Connect(ClusterTls tls) => new(new TcpTransportOptions { Cluster = Cluster, Tls = tls });

    private async Task CreateAsync(CancellationToken stop)
    {
        using var tls = new ClusterTls(_peers["admin"]);
        using var transport = Connect(tls);
        var layout = new LayoutClient(transport, SystemEntropy.Instance, TimeProvider.System);
        var unit = AddressOf(NodeRole.Unit);
        Projection = await new Reconfigurer(transport, layout, TimeProvider.System).CreateAsync(Cluster,
            AddressOf(NodeRole.Sequencer), [new Chain([new Replica(unit.Id)])], [unit],
            [AddressOf(NodeRole.Acceptor)], stop);

        // The gate knows what the agent has read.
        var agent = AddressOf(NodeRole.Agent);
        for (var tries = 0; ; tries++)
        {
            var info = await transport.CallAsync(agent, new AgentInfoRequest(Epoch.None), stop);
            if (info.Epoch == Projection.Epoch) return;
            if (tries > 600) throw new RunException("the agent does not learn the first epoch.");
            await Task.Delay(100, stop);
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
