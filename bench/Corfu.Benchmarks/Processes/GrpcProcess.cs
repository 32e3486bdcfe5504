using Corfu.Grpc;
using Corfu.Protocol;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Benchmarks;

/// <summary>The inside of a process that serves gRPC for a cluster.</summary>
internal static class GrpcProcess
{
    public const string Name = "grpc";

    public static async Task<int> RunAsync(string connection)
    {
        await using var frontEnd = await GrpcFrontEnd.StartAsync(
            new GrpcFrontEndOptions(new NodeEndpoint("127.0.0.1", 0), connection), NullLoggerFactory.Instance);
        await ChildProcess.ServeAsync(frontEnd.Address);
        return 0;
    }
}
