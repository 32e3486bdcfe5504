using System.Text.Json;
using Corfu.Client;
using Corfu.Client.Layout;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Hosting;

/// <summary>Makes the folders of nodes that run on machines of their own; <c>corfu node --config DIR/node.json</c> runs
/// them.</summary>
public static class NodeInit
{
    /// <summary>The first node of a new cluster: unit, acceptor and sequencer. The first projection is decided on
    /// return.</summary>
    /// <exception cref="NodeStartException">The folder is not empty, or the node cannot start.</exception>
    public static async Task<ClusterId> FirstAsync(string folder, NodeListen listen, ILoggerFactory? loggers = null,
        CancellationToken cancellationToken = default)
    {
        loggers ??= NullLoggerFactory.Instance;
        using var tls = listen.OpenTls();
        var cluster = tls?.Identity.Cluster ?? new ClusterId(SystemEntropy.Instance.NewGuid());
        var options = Write(folder, cluster, listen, [NodeRoles.Unit, NodeRoles.Acceptor, NodeRoles.Sequencer], []);
        await using var node = await CorfuNode.StartAsync(options, loggers, TimeProvider.System, cancellationToken);
        NodeAddress Role(NodeRole role) => new(node.Description.Roles.First(r => r.Role == role).Id, node.Endpoint);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = cluster, Tls = tls },
            TimeProvider.System);
        var layout = new LayoutClient(transport, SystemEntropy.Instance, TimeProvider.System);
        var unit = Role(NodeRole.Unit);
        await new Reconfigurer(transport, layout, TimeProvider.System).CreateAsync(cluster, Role(NodeRole.Sequencer),
            [new Chain([new Replica(unit.Id)])], [unit], [Role(NodeRole.Acceptor)], cancellationToken);
        return cluster;
    }

    /// <summary>A node that joins a running cluster: its unit waits as a spare, its acceptor and sequencer stand
    /// by.</summary>
    /// <param name="join">Nodes of the cluster, of which one runs. The new node remembers all.</param>
    /// <param name="settings">Settings of the roles that have some, by their name.</param>
    /// <exception cref="NodeStartException">Nothing answers there, or the folder is not empty.</exception>
    public static async Task<ClusterId> JoinAsync(string folder, ImmutableArray<NodeEndpoint> join,
        ImmutableArray<INodeRole> roles, NodeListen listen, ImmutableDictionary<string, JsonElement>? settings = null,
        CancellationToken cancellationToken = default)
    {
        using var tls = listen.OpenTls();
        using var transport = new TcpTransport(new TcpTransportOptions { Tls = tls }, TimeProvider.System);
        var (at, cluster) = await FindAsync(transport, join, cancellationToken);
        if (cluster.IsNone) throw new NodeStartException($"The process at {at} belongs to no cluster.");
        // The certificate is what its operator chose; the answer may be of any process.
        if (tls is not null && cluster != tls.Identity.Cluster)
            throw new NodeStartException(
                $"The process at {at} belongs to the cluster {cluster}, and the certificate in {listen.Certs} is "
                + $"of {tls.Identity.Cluster}: name a node of that one, or use a certificate of this one.");
        Write(folder, cluster, listen, roles, [.. join.Select(peer => peer.ToString())], settings);
        return cluster;
    }

    private static async Task<(NodeEndpoint At, ClusterId Cluster)> FindAsync(
        TcpTransport transport, ImmutableArray<NodeEndpoint> join, CancellationToken cancellationToken)
    {
        TransportException? failure = null;
        foreach (var endpoint in join)
        {
            try
            {
                return (endpoint, (await transport.DescribeAsync(endpoint, cancellationToken)).Cluster);
            }
            catch (TransportException e)
            {
                failure = e;
            }
        }

        throw new NodeStartException(
            $"No node answers at {string.Join(", ", join)}: {failure?.Message ?? "none was named."}", failure);
    }

    private static NodeOptions Write(string folder, ClusterId cluster, NodeListen listen,
        ImmutableArray<INodeRole> roles, ImmutableArray<string> peers,
        ImmutableDictionary<string, JsonElement>? settings = null)
    {
        var full = Path.GetFullPath(folder);
        ClusterFolder.RequireEmpty(full, listen.Certs);
        var known = NodeRoles.Log.With([.. roles.Where(role => NodeRoles.Log.Find(role.Name) is null)]);
        var configured = roles.Select(role =>
            new NodeConfigRole(role.Name, role.HasFolder ? SystemEntropy.Instance.NewGuid() : Guid.Empty,
                role.HasFolder ? role.Name.ToLowerInvariant() : null)
            {
                Settings = settings?.TryGetValue(role.Name, out var own) == true ? own : null,
            }).ToImmutableArray();
        var name = Path.GetFileName(full);
        var config = new NodeConfig(name, cluster.Value, listen.Address, listen.Insecure, name + ".log", configured)
        {
            Peers = peers,
            Tls = listen.TlsIn(full),
            FrontEnds = listen.FrontEnds.IsEmpty ? null : listen.FrontEnds,
        };
        try
        {
            Form(full, config, known);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The folder {full} cannot be used: {e.Message}", e);
        }

        return NodeConfig.Load(Path.Combine(full, ClusterFolder.ConfigName), known);
    }

    /// <summary>Makes a node's folder, and formats those of its roles. May be repeated before the node has
    /// run.</summary>
    internal static void Form(string folder, NodeConfig config, NodeRoles? known = null)
    {
        var path = Path.Combine(folder, ClusterFolder.ConfigName);
        // All faults are found before anything is made.
        config.ToOptions(path, known);
        PrivateFolder.Create(folder);
        foreach (var role in config.Roles.Where(role => role.Folder is not null))
            RoleFolder.Format(Path.Combine(folder, role.Folder!), new ClusterId(config.Cluster), role.Role,
                new NodeId(role.Id));
        // The configuration comes last: without it there is no node, and the folder may be deleted.
        config.Save(path);
    }
}
