using System.Net;
using System.Net.Sockets;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Corfu.Transport.Tests;

/// <summary>A registry behind a real Kestrel on a loopback port.</summary>
internal sealed class TestServer : IAsyncDisposable
{
    public static readonly ClusterId Cluster = new(new Guid("11111111-2222-3333-4444-555555555555"));

    private static readonly RequestTable s_requests = new(
        UnitMessages.AddTo, SequencerMessages.AddTo, LayoutMessages.AddTo);

    private readonly WebApplication _app;

    private TestServer(WebApplication app, RoleRegistry registry, int port)
    {
        _app = app;
        Registry = registry;
        Endpoint = new NodeEndpoint("127.0.0.1", port);
    }

    public RoleRegistry Registry { get; }

    public NodeEndpoint Endpoint { get; }

    public static async Task<TestServer> StartAsync(ServerTransportOptions? options = null, TimeProvider? time = null,
        int port = 0, RequestTable? requests = null, ClusterTls? tls = null, ILogger? logger = null,
        Func<string, Principal>? principal = null)
    {
        var registry = new RoleRegistry(Cluster, requests ?? s_requests, options, time, logger);
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        // As CorfuListener does.
        builder.WebHost.UseSockets(sockets => sockets.UnsafePreferInlineScheduling = true);
        builder.WebHost.ConfigureKestrel(k => k.Listen(IPAddress.Loopback, port, l =>
        {
            if (tls is not null) l.UseCorfuTls(tls, registry);
            if (principal is not null) l.Use(next => context => next(WithPrincipal(context, principal)));
            l.UseCorfu(registry);
        }));
        var app = builder.Build();
        await app.StartAsync();
        var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses
            .Single();
        return new TestServer(app, registry, new Uri(address).Port);
    }

    public static TcpTransport Connect(TimeProvider? time = null, ClusterTls? tls = null) =>
        new(new TcpTransportOptions { Cluster = Cluster, Tls = tls }, time);

    // In the place of certificates.
    private static ConnectionContext WithPrincipal(ConnectionContext context, Func<string, Principal> principal)
    {
        context.Features.Set(principal(((IPEndPoint)context.RemoteEndPoint!).Address.ToString()));
        return context;
    }

    public EchoRole AddEcho()
    {
        var echo = new EchoRole(new NodeId(Guid.NewGuid()));
        Registry.Add(echo);
        return echo;
    }

    public NodeAddress AddressOf(IRoleHandler role) => new(role.Id, Endpoint);

    public async Task<Socket> RawAsync()
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(Endpoint.Host, Endpoint.Port);
        return socket;
    }

    /// <summary>A raw connection that has shaken hands with the role.</summary>
    public async Task<Socket> RawAsync(IRoleHandler role)
    {
        var socket = await RawAsync();
        await socket.SendAsync(Wire.Hello(Cluster, role.Id));
        var welcome = await ReceiveAsync(socket, Wire.WelcomeSize(Registry.Describe().Roles.Length));
        Assert.Equal((byte)Status.Ok, welcome[10]);
        return socket;
    }

    /// <summary>Exactly so many bytes, or those that came before the end.</summary>
    public static async Task<byte[]> ReceiveAsync(Socket socket, int count)
    {
        var bytes = new byte[count];
        var filled = 0;
        try
        {
            while (filled < count)
            {
                var received = await socket.ReceiveAsync(bytes.AsMemory(filled));
                if (received == 0) break;
                filled += received;
            }
        }
        catch (SocketException)
        {
            // A reset is an end too.
        }

        return bytes[..filled];
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync();
        await _app.DisposeAsync();
        Registry.Dispose();
    }
}
