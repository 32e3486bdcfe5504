using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Corfu.Grpc;

/// <summary>The front end with a listener of its own, for a process that is no ASP.NET Core host, such as a node. It
/// speaks HTTP/2 without TLS. Disposing it ends its calls and closes its client.</summary>
public sealed class GrpcFrontEnd : IAsyncDisposable
{
    // Limits of a connection, which a client uses for all its calls and subscriptions.
    private const int MaxStreams = 1024;
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
    /// <param name="listen">An IP address or <c>localhost</c>.</param>
    /// <param name="connection">As <see cref="Client.ConnectionString"/>.</param>
    /// <param name="allow">Further rights of callers, beside reading and appending: <c>admin</c>, <c>trims</c>,
    /// <c>objects</c>, as the options of <see cref="CorfuGrpcOptions"/>. Null: none.</param>
    /// <exception cref="FrontEndStartException">The port is occupied, or a parameter malformed.</exception>
    public static Task<GrpcFrontEnd> StartAsync(NodeEndpoint listen, string connection, ILoggerFactory loggers,
        IReadOnlyCollection<string>? allow = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(loggers);
        Action<CorfuGrpcOptions> configure = static _ => { };
        foreach (var what in allow ?? []) configure += Allowing(what);
        if (!Client.ConnectionString.TryParse(connection, out _, out var fault))
            throw new FrontEndStartException(fault);
        var address = listen.Host == "localhost"
            ? IPAddress.Loopback
            : IPAddress.TryParse(listen.Host, out var parsed)
                ? parsed
                : throw new FrontEndStartException($"'{listen.Host}' is neither an IP address nor 'localhost'.");
        return StartAsync(new IPEndPoint(address, listen.Port), services => services.Configure(configure)
            .AddCorfuClient(settings =>
            {
                settings.ConnectionString = connection;
                settings.ConnectTimeout = TimeSpan.Zero;
            }), loggers, cancellationToken);
    }

    internal static async Task<GrpcFrontEnd> StartAsync(IPEndPoint listen, Action<IServiceCollection> addClient,
        ILoggerFactory loggers, CancellationToken cancellationToken)
    {
        var app = Build(listen, addClient, loggers);
        try
        {
            await app.StartAsync(cancellationToken);
            return new GrpcFrontEnd(app);
        }
        catch (Exception e)
        {
            await app.DisposeAsync();
            throw e is IOException { InnerException: AddressInUseException }
                ? new FrontEndStartException(
                    $"The port {listen.Port} of {listen.Address} is occupied by another process.", e)
                : e is IOException or System.Net.Sockets.SocketException
                    ? new FrontEndStartException($"The gRPC front end cannot listen at {listen}: {e.Message}", e)
                    : e;
        }
    }

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

    private static Action<CorfuGrpcOptions> Allowing(string what) => what switch
    {
        "admin" => static options => options.AllowAdmin = true,
        "trims" => static options => options.AllowTrims = true,
        "objects" => static options => options.AllowObjectAppends = true,
        _ => throw new FrontEndStartException(
            $"A gRPC front end can allow 'admin', 'trims' and 'objects', not '{what}'."),
    };

    private static WebApplication Build(
        IPEndPoint listen, Action<IServiceCollection> addClient, ILoggerFactory loggers)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            // A subscriber may be as slow as it likes. The limit would end its whole connection: the other calls too,
            // and the sessions with their locks.
            kestrel.Limits.MinResponseDataRate = null;
            kestrel.Limits.Http2.MaxStreamsPerConnection = MaxStreams;
            // Calls that are not read for now fill their own windows; pings and the connection's other calls go on.
            kestrel.Limits.Http2.InitialConnectionWindowSize = ConnectionWindow;
            kestrel.Limits.Http2.KeepAlivePingDelay = PingDelay;
            kestrel.Limits.Http2.KeepAlivePingTimeout = PingTimeout;
            kestrel.Listen(listen, static endpoint => endpoint.Protocols = HttpProtocols.Http2);
        });
        builder.Logging.AddProvider(new Forwarding(loggers));
        // ASP.NET Core and gRPC write several lines for each call at the level below.
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning).AddFilter("Grpc", LogLevel.Warning);
        builder.Services.AddSingleton<IHostLifetime, ProcessOfAnother>();
        builder.Services.AddRouting();
        addClient(builder.Services);
        builder.Services.AddCorfuGrpc();
        var app = builder.Build();
        app.MapCorfu();
        return app;
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

/// <summary>The front end cannot start.</summary>
public sealed class FrontEndStartException(string message, Exception? inner = null) : CorfuException(message, inner);
