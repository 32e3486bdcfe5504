using System.Net;
using System.Net.Sockets;
using Corfu.Etcd.Gateway;
using Corfu.Etcd.Serving;
using Corfu.Etcd.Translation;
using Corfu.Etcd.Watching;
using Corfu.Protocol;
using Corfu.Server;
using Corfu.Transport;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Corfu.Etcd.Hosting;

/// <summary>The listener of a front end: gRPC and JSON at one port. Before the front end serves, calls wait, and then
/// end with UNAVAILABLE: clients try the next address.</summary>
internal sealed class EtcdPort : IAsyncDisposable
{
    // A client uses one connection for all its calls and watches.
    private const int ConnectionWindow = 16 << 20;

    // A client that has vanished is noticed after both.
    private static readonly TimeSpan s_pingDelay = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_pingTimeout = TimeSpan.FromSeconds(20);

    // Calls end when the stop begins; a call that takes longer is stuck.
    private static readonly TimeSpan s_stopTimeout = TimeSpan.FromSeconds(5);

    private readonly WebApplication _app;

    private EtcdPort(WebApplication app, StoreAccess access) => (_app, Access) = (app, access);

    public StoreAccess Access { get; }

    /// <summary>The address at which it listens.</summary>
    public IPEndPoint EndPoint { get; private set; } = new(IPAddress.None, 0);

    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<EtcdPort> OpenAsync(EtcdFrontEndOptions options, CancellationToken cancellationToken)
    {
        var access = new StoreAccess();
        var bound = () => options.Listen;
        var app = Build(options, access, found => bound = found);
        try
        {
            await app.StartAsync(cancellationToken).ConfigureAwait(false);
            return new EtcdPort(app, access) { EndPoint = bound() };
        }
        catch (Exception e)
        {
            await app.DisposeAsync().ConfigureAwait(false);
            throw e switch
            {
                AddressInUseException or IOException { InnerException: AddressInUseException } => new ListenException(
                    $"The port {options.Listen.Port} of {options.Listen.Address} is occupied by another process.", e),
                IOException or SocketException =>
                    new ListenException($"The process cannot listen at {options.Listen}: {e.Message}", e),
                _ => e,
            };
        }
    }

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(s_stopTimeout);
        Access.Stop();
        try
        {
            await _app.StopAsync(limit.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            // A client that does not read holds its streams; their connections are closed by now.
        }
        finally
        {
            await _app.DisposeAsync().ConfigureAwait(false);
            Access.Dispose();
        }
    }

    /// <param name="listening">Is told how to find the address, once the port is open.</param>
    private static WebApplication Build(
        EtcdFrontEndOptions options, StoreAccess access, Action<Func<IPEndPoint>> listening)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore();
        if (options.Tls is not null) builder.WebHost.UseKestrelHttpsConfiguration();
        builder.Logging.AddProvider(new Forwarding(options.Loggers));
        // ASP.NET Core and gRPC write several lines for each call at the level below.
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning).AddFilter("Grpc", LogLevel.Warning);
        builder.Services.AddSingleton<IHostLifetime, ProcessOfAnother>();
        builder.Services.AddRouting();
        builder.Services.AddSingleton(access);
        builder.Services.AddGrpc(grpc =>
        {
            // The service checks the size, and answers as etcd does: so it has to arrive. Etcd's bound is the same.
            grpc.MaxReceiveMessageSize = options.Limits.MaxRequestBytes + (512 << 10);
            grpc.MaxSendMessageSize = null;
        });
        SharedPort? port = null;
        if (options.Tls is null)
        {
            var sockets = new SocketTransportFactory(
                Options.Create(new SocketTransportOptions()), options.Loggers);
            port = new SharedPort(sockets, options.Listen, options.Limits.MaxConnections);
            builder.Services.AddSingleton<IConnectionListenerFactory>(port);
            listening(() => port.EndPoint);
        }

        builder.Services.AddOptions<KestrelServerOptions>().Configure(kestrel =>
        {
            Limit(kestrel, options.Limits);
            if (port is not null)
            {
                kestrel.Listen(port.Http2, static endpoint => endpoint.Protocols = HttpProtocols.Http2);
                kestrel.Listen(port.Http1, static endpoint => endpoint.Protocols = HttpProtocols.Http1);
                return;
            }

            kestrel.Listen(options.Listen, endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1AndHttp2;
                endpoint.UseCorfuHttps(options.Tls!, required: true, new TlsListenOptions
                {
                    Logger = options.Loggers.CreateLogger("Corfu.Etcd.Tls"),
                });
                listening(() => endpoint.IPEndPoint ?? options.Listen);
            });
        });
        var app = builder.Build();
        if (options.Tls is not null) app.Use(RequireClientAsync);
        MapCalls(app, options.Limits, access);
        return app;
    }

    private static void MapCalls(WebApplication app, EtcdLimits limits, StoreAccess access)
    {
        app.MapGrpcService<KvService>();
        app.MapGrpcService<WatchService>();
        app.MapGrpcService<LeaseService>();
        app.MapGrpcService<ClusterService>();
        app.MapGrpcService<MaintenanceService>();
        app.MapGrpcService<AuthService>();
        app.MapGrpcService<LockService>();
        app.MapGrpcService<ElectionService>();
        new JsonGateway(app, limits).Map(access);
    }

    /// <summary>A certificate of a caller has what it is granted elsewhere. Here every call reaches the whole
    /// store.</summary>
    private static Task RequireClientAsync(HttpContext context, RequestDelegate next)
    {
        if (context.Features.Get<TlsPeer>() is { Principal.Role: >= AccessRole.Client }) return next(context);
        return GatewayErrors.RefuseAsync(context, EtcdErrors.PermissionDenied.Status);
    }

    private static void Limit(KestrelServerOptions kestrel, EtcdLimits limits)
    {
        kestrel.AddServerHeader = false;
        // A watcher may be as slow as it likes: the limit would end its whole connection.
        kestrel.Limits.MinResponseDataRate = null;
        kestrel.Limits.MaxConcurrentConnections = limits.MaxConnections;
        kestrel.Limits.Http2.MaxStreamsPerConnection = limits.MaxStreamsPerConnection;
        kestrel.Limits.Http2.InitialConnectionWindowSize = ConnectionWindow;
        kestrel.Limits.Http2.KeepAlivePingDelay = s_pingDelay;
        kestrel.Limits.Http2.KeepAlivePingTimeout = s_pingTimeout;
    }

    /// <summary>Signals are for the process' own host.</summary>
    private sealed class ProcessOfAnother : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }

    /// <summary>Events go where the process' other events go.</summary>
    private sealed class Forwarding(ILoggerFactory loggers) : ILoggerProvider
    {
        public ILogger CreateLogger(string categoryName) => loggers.CreateLogger(categoryName);

        public void Dispose()
        {
        }
    }
}
