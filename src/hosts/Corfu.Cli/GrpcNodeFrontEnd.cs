using Corfu.Grpc;

namespace Corfu.Cli;

/// <summary>gRPC as a front end of a node process.</summary>
internal sealed class GrpcNodeFrontEnd : IFrontEnd
{
    public const string KindName = "grpc";

    public string Kind => KindName;

    public async Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken) =>
        await GrpcFrontEnd.StartAsync(start.Listen, start.Connection, start.Loggers, start.Allow, cancellationToken);

    /// <summary>Addresses for gRPC clients.</summary>
    public static IReadOnlyList<string> AddressesIn(ClusterState state) =>
        [.. state.FrontEndsOf(KindName).Select(endpoint => $"http://{endpoint}")];
}
