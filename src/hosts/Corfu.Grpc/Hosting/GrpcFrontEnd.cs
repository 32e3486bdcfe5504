using System.Net;
using Corfu.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The front end with a listener of its own, for a process that is no ASP.NET Core host, such as a node. It
/// speaks HTTP/2: over TLS, with callers' certificates and rights, where it is given certificates. Disposing it ends
/// its calls and closes its client.</summary>
public sealed class GrpcFrontEnd : IAsyncDisposable
{
    // A client uses one connection for all its calls and subscriptions.
    private const int ConnectionWindow = 16 << 20;

    // A client that has vanished is noticed after both.
    private static readonly TimeSpan PingDelay = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan PingTimeout = TimeSpan.FromSeconds(20);

    // Calls end when the stop begins; a call that takes longer is stuck.
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(5);

    private readonly WebApplication _app;

    private GrpcFrontEnd(WebApplication app) => _app = app;

    /// <summary>The address for clients, as <c>http://127.0.0.1:20001</c>.</summary>
    public string Address =>
        _app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();

    /// <summary>Listens. The client connects when the first call needs it: until the cluster answers, calls end with
    /// UNAVAILABLE.</summary>
    /// <exception cref="FrontEndStartException">The port is occupied, or an option malformed.</exception>
    public static Task<GrpcFrontEnd> StartAsync(
        GrpcFrontEndOptions options, ILoggerFactory loggers, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(loggers);
        if (!Client.ConnectionString.TryParse(options.Connection, out _, out var fault))
            throw new FrontEndStartException(fault);
        var address = options.Listen.Host == "localhost"
            ? IPAddress.Loopback
            : IPAddress.TryParse(options.Listen.Host, out var parsed)
                ? parsed
                : throw new FrontEndStartException(
                    $"'{options.Listen.Host}' is neither an IP address nor 'localhost'.");
        options.Configure(new CorfuGrpcOptions());
        return StartAsync(
            new Listener(new IPEndPoint(address, options.Listen.Port), options.Tls),
            services => options.AddTo(services.Configure<CorfuGrpcOptions>(options.Configure)), loggers,
            cancellationToken);
    }

    internal static async Task<GrpcFrontEnd> StartAsync(Listener listen, Action<IServiceCollection> addServices,
        ILoggerFactory loggers, CancellationToken cancellationToken)
    {
        var app = Build(listen, addServices, loggers);
        var at = listen.EndPoint;
        try
        {
            await app.StartAsync(cancellationToken);
            return new GrpcFrontEnd(app);
        }
        catch (Exception e)
        {
            await app.DisposeAsync();
            throw e switch
            {
                IOException { InnerException: AddressInUseException } => new FrontEndStartException(
                    $"The port {at.Port} of {at.Address} is occupied by another process.", e),
                IOException or System.Net.Sockets.SocketException => new FrontEndStartException(
                    $"The gRPC front end cannot listen at {at}: {e.Message}", e),
                OptionsValidationException => new FrontEndStartException($"limits.grpc: {e.Message}", e),
                _ => e,
            };
        }
    }

    internal IServiceProvider Services => _app.Services;

    /// <summary>Reads the access file now; by itself it is read ten seconds after a change, at the latest.</summary>
    public void ReloadAccess() => _app.Services.GetRequiredService<AccessFile>().Reload();

    /// <summary>Ends its connections at once, as a process that is killed does. To be disposed as well.</summary>
    internal async Task AbortAsync()
    {
        try
        {
            await _app.StopAsync(new CancellationToken(canceled: true));
        }
        catch (OperationCanceledException)
        {
            // The stop was not orderly, as intended.
        }
    }

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(StopTimeout);
        try
        {
            await _app.StopAsync(limit.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            // Calls were stuck; their connections are closed by now.
        }
        finally
        {
            await _app.DisposeAsync();
        }
    }

    private static WebApplication Build(
        Listener listen, Action<IServiceCollection> addServices, ILoggerFactory loggers)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore();
        if (listen.Tls is not null) builder.WebHost.UseKestrelHttpsConfiguration();
        builder.Logging.AddProvider(new Forwarding(loggers));
        // ASP.NET Core and gRPC write several lines for each call at the level below.
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning).AddFilter("Grpc", LogLevel.Warning);
        builder.Services.AddSingleton<IHostLifetime, ProcessOfAnother>();
        builder.Services.AddRouting();
        addServices(builder.Services);
        builder.Services.AddCorfuGrpc();
        builder.Services.AddAuthentication(CorfuClaims.Scheme).AddCorfuCertificates();
        builder.Services.AddOptions<KestrelServerOptions>().Configure<IOptions<CorfuGrpcOptions>>(
            (kestrel, own) => Listen(kestrel, listen, own.Value, loggers));
        var app = builder.Build();
        if (listen.Tls is not null) app.UseAuthentication().UseAuthorization();
        app.MapCorfu();
        return app;
    }

    private static void Listen(
        KestrelServerOptions kestrel, Listener listen, CorfuGrpcOptions options, ILoggerFactory loggers)
    {
        // A subscriber may be as slow as it likes. The limit would end its whole connection: the other calls too,
        // and the sessions with their locks.
        kestrel.Limits.MinResponseDataRate = null;
        kestrel.Limits.MaxConcurrentConnections = options.MaxConnections;
        kestrel.Limits.Http2.MaxStreamsPerConnection = options.MaxStreamsPerConnection;
        // Calls that are not read for now fill their own windows; pings and the connection's other calls go on.
        kestrel.Limits.Http2.InitialConnectionWindowSize = ConnectionWindow;
        kestrel.Limits.Http2.KeepAlivePingDelay = PingDelay;
        kestrel.Limits.Http2.KeepAlivePingTimeout = PingTimeout;
        kestrel.Listen(listen.EndPoint, endpoint =>
        {
            endpoint.Protocols = HttpProtocols.Http2;
            // A load balancer asks for health without a certificate; a bad certificate is refused by the handshake.
            if (listen.Tls is { } tls)
                endpoint.UseCorfuHttps(
                    tls, required: false, new TlsListenOptions { Logger = loggers.CreateLogger("Corfu.Grpc.Tls") });
        });
    }

    /// <summary>The address to listen at, and the certificates.</summary>
    /// <param name="Tls">Null: without TLS.</param>
    internal sealed record Listener(IPEndPoint EndPoint, ClusterTls? Tls = null);

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

/// <summary>The front end cannot start.</summary>
public sealed class FrontEndStartException(string message, Exception? inner = null) : CorfuException(message, inner);
