using System.CommandLine;
using System.Net;
using Corfu.Client;
using Corfu.Etcd.Hosting;
using Corfu.Etcd.Protocol;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Load;

/// <summary>A front end for clients of etcd, the same as <c>corfu etcd</c>; or puts that are answered at once, which is
/// what gRPC alone costs.</summary>
internal static class EtcdServerCommand
{
    public const string Name = "etcd-server";

    /// <summary>In place of a cluster: puts are answered at once.</summary>
    public const string Empty = "empty";

    public static Command Create()
    {
        var connect = new Argument<string>("connect") { Description = $"A cluster, or {Empty}: no store." };
        var command = new Command(Name, "A server of etcd v3; started by the other commands.") { connect };
        command.Hidden = true;
        command.SetAction((result, cancellationToken) =>
        {
            var cluster = result.GetRequiredValue(connect);
            return cluster == Empty ? ServeNothingAsync(cancellationToken) : ServeAsync(cluster, cancellationToken);
        });
        return command;
    }

    /// <summary>Prints the address, then serves until the standard input ends.</summary>
    private static async Task<int> ServeAsync(string connect, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connect, cancellationToken: cancellationToken);
        await using var runtime = new TangoRuntime(client, EtcdFrontEnd.RuntimeOptions);
        await using var frontEnd = await EtcdFrontEnd.StartAsync(
            client, runtime, new EtcdFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)), cancellationToken);
        await Console.Out.WriteLineAsync($"http://{frontEnd.EndPoint}");
        await Console.In.ReadLineAsync(cancellationToken);
        return 0;
    }

    private static async Task<int> ServeNothingAsync(CancellationToken cancellationToken)
    {
        await using var app = await StartEmptyAsync(cancellationToken);
        await Console.Out.WriteLineAsync(app.Urls.First());
        await Console.In.ReadLineAsync(cancellationToken);
        return 0;
    }

    /// <summary>Answers puts at once.</summary>
    internal static async Task<WebApplication> StartEmptyAsync(CancellationToken cancellationToken)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Services.AddRouting();
        builder.Services.AddGrpc();
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
            kestrel.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2));
        var app = builder.Build();
        app.MapGrpcService<NoStore>();
        await app.StartAsync(cancellationToken);
        return app;
    }

    private sealed class NoStore : KV.KVBase
    {
        // The process has one number, for gRPC makes a service for each call.
        private static long s_revision;

        public override Task<PutResponse> Put(PutRequest request, ServerCallContext context) => Task.FromResult(
            new PutResponse { Header = new ResponseHeader { Revision = Interlocked.Increment(ref s_revision) } });
    }
}
