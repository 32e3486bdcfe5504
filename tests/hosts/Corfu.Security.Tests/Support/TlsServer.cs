using System.Net;
using Corfu.Protocol;
using Corfu.Server;
using Corfu.Transport;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Corfu.Security.Tests.Support;

/// <summary>The cluster's port of a process without roles, behind a real Kestrel on loopback.</summary>
internal sealed class TlsServer : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly RoleRegistry _registry;

    private TlsServer(WebApplication app, RoleRegistry registry, int port)
    {
        _app = app;
        _registry = registry;
        Endpoint = new NodeEndpoint("127.0.0.1", port);
    }

    public NodeEndpoint Endpoint { get; }

    /// <param name="tls">Null: the port speaks without TLS.</param>
    public static async Task<TlsServer> StartAsync(ClusterId cluster, ClusterTls? tls, ILogger logger)
    {
        var registry = new RoleRegistry(cluster, new RequestTable(), null, null, logger);
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen =>
        {
            if (tls is not null) listen.UseCorfuTls(tls, registry);
            listen.UseCorfu(registry);
        }));
        var app = builder.Build();
        await app.StartAsync();
        var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses
            .Single();
        return new TlsServer(app, registry, new Uri(address).Port);
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync();
        await _app.DisposeAsync();
        _registry.Dispose();
    }
}
