using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace NamenodeSample.Hdfs;

/// <summary>The socket on which a namenode serves Hadoop RPC.</summary>
internal sealed class HdfsListener : IAsyncDisposable
{
    private const int MaxConnections = 256;

    private readonly WebApplication _server;

    private HdfsListener(WebApplication server) => _server = server;

    /// <summary>The address, with the port that was free where port 0 was asked for.</summary>
    public string Address => new Uri(_server.Services.GetRequiredService<IServer>().Features
        .Get<IServerAddressesFeature>()!.Addresses.First()).Authority;

    /// <exception cref="IOException">The address is in use.</exception>
    public static async Task<HdfsListener> StartAsync(
        IPEndPoint address, NamenodeCalls calls, TextWriter log, CancellationToken cancellationToken)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Logging.ClearProviders();
        builder.Services.AddSingleton(calls);
        builder.Services.AddSingleton(RpcLimits.Usual);
        builder.Services.AddSingleton(log);
        builder.WebHost.UseKestrelCore().ConfigureKestrel(options =>
        {
            options.Limits.MaxConcurrentConnections = MaxConnections;
            options.Listen(address, static listen => listen.UseConnectionHandler<RpcConnection>());
        });
        WebApplication server = builder.Build();
        try
        {
            await server.StartAsync(cancellationToken);
            return new HdfsListener(server);
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => _server.DisposeAsync();
}
