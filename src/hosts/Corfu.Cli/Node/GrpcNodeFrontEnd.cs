using Corfu.Grpc;

namespace Corfu.Cli;

/// <summary>gRPC as a front end of a node process.</summary>
internal sealed class GrpcNodeFrontEnd : IFrontEnd
{
    public const string KindName = "grpc";

    // Beside node.json.
    private const string AccessFileName = "access.json";

    public string Kind => KindName;

    public async Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken) =>
        new Running(await GrpcFrontEnd.StartAsync(
            new GrpcFrontEndOptions(start.Listen, start.Connection)
            {
                Allow = start.Allow,
                // While the cluster moves to TLS, callers do not have to follow yet.
                Tls = start.Tls is { Mode: TlsMode.Required } tls ? tls : null,
                AccessFile = start.Folder is null ? null : Path.Combine(start.Folder, AccessFileName),
                Limits = start.Limits,
                // Calls get no more of the node's rights than they need.
                Client = ClientOf(start.Tls, AccessRole.Client),
                AdminClient = start.Tls is null ? null : ClientOf(start.Tls, AccessRole.Admin),
            },
            start.Loggers, cancellationToken));

    /// <summary>Addresses for gRPC clients.</summary>
    public static IReadOnlyList<string> AddressesIn(ClusterState state)
    {
        var isTls = state.ConnectionString.StartsWith(ConnectionString.TlsScheme, StringComparison.Ordinal);
        return [.. state.FrontEndsOf(KindName).Select(endpoint => $"{(isTls ? "https" : "http")}://{endpoint}")];
    }

    private static CorfuClientOptions ClientOf(ClusterTls? tls, AccessRole role) => tls is null
        ? new CorfuClientOptions()
        : new CorfuClientOptions { Tcp = new TcpTransportOptions { Tls = tls, Role = role } };

    private sealed class Running(GrpcFrontEnd frontEnd) : IAsyncDisposable, IReloadable
    {
        // The log names the changes of the access file.
        public ImmutableArray<string> Reload(NodeOptions now)
        {
            frontEnd.ReloadAccess();
            return [];
        }

        public ValueTask DisposeAsync() => frontEnd.DisposeAsync();
    }
}
