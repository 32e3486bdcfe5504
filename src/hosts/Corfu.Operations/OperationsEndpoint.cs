using System.Net;
using System.Net.Sockets;
using Corfu.Hosting;
using Corfu.Operations.Figures;
using Corfu.Operations.Pages;
using Corfu.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Corfu.Operations;

/// <summary>A node's HTTP listener for operators, orchestrators and collectors.</summary>
internal sealed class OperationsEndpoint : IAsyncDisposable
{
    // A scrape and a browser need a handful.
    private const int MaxConnections = 256;
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(2);

    private readonly WebApplication _app;
    private readonly Gate _gate;
    private readonly IAsyncDisposable? _console;

    private OperationsEndpoint(WebApplication app, Gate gate, IAsyncDisposable? console)
    {
        _app = app;
        _gate = gate;
        _console = console;
    }

    /// <exception cref="NodeStartException">The address cannot be listened at.</exception>
    public static async Task<OperationsEndpoint> StartAsync(NodeSurroundings node, NodeHttpOptions http,
        Collector collector, INodePages? console, CancellationToken cancellationToken)
    {
        var listen = AddressOf(http.Listen);
        var tls = node.Tls;
        var isLocal = IPAddress.IsLoopback(listen.Address);
        if (tls is null && !isLocal && !node.Options.Insecure)
            throw new NodeStartException(
                $"http.listen is {http.Listen}, which is not loopback, and the node has no certificate. Give it one "
                + "(tls), listen at 127.0.0.1, or set insecure.");
        var app = Build(listen, tls, node);
        var gate = new Gate(http, tls, isLocal, listen);
        app.Use(gate.InvokeAsync);
        if (console is not null) app.Use((context, next) => AuditAsync(context, next, console, node));
        collector.Map(app);
        app.UseRouting();
        new HealthPages(node).Map(app);
        new NodePage(node, console?.Path).Map(app);
        var pages = console?.Map(app, node);
        try
        {
            await app.StartAsync(cancellationToken);
            return new OperationsEndpoint(app, gate, pages);
        }
        catch (Exception e)
        {
            await app.DisposeAsync();
            if (pages is not null) await pages.DisposeAsync();
            throw e is IOException { InnerException: AddressInUseException }
                ? new NodeStartException($"The port of http.listen, {http.Listen}, is occupied by another process.", e)
                : e is IOException or SocketException
                    ? new NodeStartException($"The node cannot listen at {http.Listen} (http): {e.Message}", e)
                    : e;
        }
    }

    /// <inheritdoc cref="Gate.Use"/>
    public bool Use(NodeHttpOptions now) => _gate.Use(now);

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(StopTimeout);
        try
        {
            await _app.StopAsync(limit.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            // A slow reader does not hold the process.
        }
        finally
        {
            await _app.DisposeAsync();
            if (_console is not null) await _console.DisposeAsync();
        }
    }

    // Behind the gate: the viewer has the right to see the pages.
    private static Task AuditAsync(HttpContext context, RequestDelegate next, INodePages console,
        NodeSurroundings node)
    {
        if (context.Request.Path.StartsWithSegments(console.Path))
        {
            node.Running()?.AuditConsole(context.Features.Get<TlsPeer>()?.Principal
                ?? new Principal(AccessRole.Node, $"{context.Connection.RemoteIpAddress}"));
        }

        return next(context);
    }

    private static IPEndPoint AddressOf(string listen) =>
        NodeEndpoint.TryParse(listen, out var endpoint)
            ? new IPEndPoint(
                endpoint.Host == "localhost" ? IPAddress.Loopback : IPAddress.Parse(endpoint.Host), endpoint.Port)
            : throw new NodeStartException($"http.listen: '{listen}' is no address:port.");

    private static WebApplication Build(IPEndPoint listen, ClusterTls? tls, NodeSurroundings node)
    {
        var handshake = new TlsListenOptions
        {
            Time = node.Time,
            Logger = node.Loggers.CreateLogger("Corfu.Operations.Tls"),
        };
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxConcurrentConnections = MaxConnections;
            kestrel.Limits.MaxRequestBodySize = 0;
            kestrel.Listen(listen, endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1AndHttp2;
                // A page may be anonymous; a bad certificate is refused by the handshake.
                if (tls is not null) endpoint.UseCorfuHttps(tls, required: false, handshake);
                else endpoint.Protocols = HttpProtocols.Http1;
            });
        });
        builder.Logging.AddProvider(new Forwarding(node.Loggers));
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning);
        builder.Services.AddSingleton<IHostLifetime, ProcessOfAnother>();
        builder.Services.AddRouting();
        return builder.Build();
    }

    /// <summary>Signals are for the process's own host.</summary>
    private sealed class ProcessOfAnother : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }

    /// <summary>Events go where the process's other events go.</summary>
    private sealed class Forwarding(ILoggerFactory loggers) : ILoggerProvider
    {
        public ILogger CreateLogger(string categoryName) => loggers.CreateLogger(categoryName);

        public void Dispose()
        {
        }
    }
}
