using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

public sealed partial class CorfuClient
{
    /// <summary>Connects over TCP. The client owns its connections.</summary>
    /// <param name="connection">As <see cref="ConnectionString"/>.</param>
    /// <exception cref="FormatException">The connection string is malformed.</exception>
    /// <exception cref="CertificateException">The certificates are missing or of no use, or connections to another
    /// machine would not be encrypted.</exception>
    /// <exception cref="ClusterNotFoundException">Nothing at its endpoints leads to a cluster.</exception>
    public static async Task<CorfuClient> ConnectAsync(string connection, CorfuClientOptions? options = null,
        ILogger? logger = null, CancellationToken cancellationToken = default)
    {
        var parsed = ConnectionString.Parse(connection);
        options ??= CorfuClientOptions.Default;
        options.Validate();
        var tcp = ConnectionTls.Apply(parsed, options.Tcp, options.Tls, out var tls, logger);
        TcpTransport? transport = null;
        try
        {
            FoundCluster found;
            using (var discovery = new TcpTransport(tcp, logger: logger))
                found = await ClusterFinder.DiscoverAsync(parsed, discovery, TimeProvider.System, cancellationToken);
            transport = new TcpTransport(tcp with { Cluster = found.Cluster }, logger: logger);
            var layout = new LayoutClient(transport, SystemEntropy.Instance, TimeProvider.System, options.Layout);
            var projection = await ClusterFinder.FindLatestAsync(found, layout, transport, TimeProvider.System,
                cancellationToken);
            return new CorfuClient(projection, transport, TimeProvider.System, SystemEntropy.Instance,
                Remembering(parsed, options), logger)
            {
                _ownedTransport = transport,
                _ownedTls = tls,
            };
        }
        catch
        {
            transport?.Dispose();
            tls?.Dispose();
            throw;
        }
    }

    /// <summary>Connects over any transport, which stays the caller's.</summary>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    /// <exception cref="ClusterNotFoundException">Nothing at the endpoints leads to a cluster.</exception>
    public static async Task<CorfuClient> ConnectAsync(
        ConnectionString connection, ITransport transport, TimeProvider time, IEntropy entropy,
        CorfuClientOptions? options = null, ILogger? logger = null, LoopContext? loops = null,
        CancellationToken cancellationToken = default)
    {
        options ??= CorfuClientOptions.Default;
        var found = await ClusterFinder.DiscoverAsync(connection, transport, time, cancellationToken);
        var projection = await ClusterFinder.FindLatestAsync(
            found, new LayoutClient(transport, entropy, time, options.Layout), transport, time, cancellationToken);
        return new CorfuClient(projection, transport, time, entropy, Remembering(connection, options), logger, loops);
    }

    // All acceptors may be replaced while the client sleeps; then it finds the cluster by these endpoints.
    private static CorfuClientOptions Remembering(ConnectionString connection, CorfuClientOptions options) =>
        options with { Layout = options.Layout with { Endpoints = [.. connection.Endpoints] } };
}
