using Corfu.Server;
using Corfu.ZooKeeper.Hosting;

namespace Corfu.Cli;

/// <summary>ZooKeeper's protocol as a front end of a node process.</summary>
internal sealed class ZooKeeperNodeFrontEnd : IFrontEnd
{
    public const string KindName = "zookeeper";

    public string Kind => KindName;

    public bool HasSettings => true;

    public async Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken)
    {
        var settings = ZooKeeperNodeSettings.Read(start.Settings);
        var options = new ZooKeeperFrontEndOptions(start.EndPoint)
        {
            Service = settings.Service,
            Reads = settings.Reads,
            ReadOnly = settings.ReadOnly,
            SuperDigest = settings.SuperDigest,
            // While the cluster moves to TLS, clients do not have to follow yet.
            Tls = start.Tls is { Mode: TlsMode.Required } own ? own : null,
            Limits = start.Limits is { } limits ? ZooKeeperLimits.Read(limits) : new ZooKeeperLimits(),
            Loggers = start.Loggers,
        };
        var client = start.Tls is { } tls
            ? new CorfuClientOptions { Tcp = new TcpTransportOptions { Tls = tls, Role = AccessRole.Client } }
            : new CorfuClientOptions();
        try
        {
            return new Running(
                await ZooKeeperServer.StartAsync(start.Connection, client, options, cancellationToken));
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }

    private sealed class Running(ZooKeeperServer server) : IAsyncDisposable, IFrontEndHealth
    {
        public string? Fault => server.Fault;

        public ValueTask DisposeAsync() => server.DisposeAsync();
    }

    /// <summary>Addresses for clients of ZooKeeper, with commas between; null: there are none.</summary>
    public static string? AddressesIn(ClusterState state) =>
        string.Join(',', state.FrontEndsOf(KindName)) is { Length: > 0 } addresses ? addresses : null;
}
