using System.Net;
using Corfu.WebConsole.Serving;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Corfu.WebConsole;

/// <summary>A console with a listener of its own, on this machine, for one browser: <c>corfu console</c>.</summary>
public sealed class ConsoleServer : IAsyncDisposable
{
    private static readonly TimeSpan s_stopTimeout = TimeSpan.FromSeconds(5);

    private readonly WebApplication _app;
    private readonly ConsoleSite _site;
    private int _isDisposed;

    private ConsoleServer(WebApplication app, ConsoleSite site, string address) =>
        (_app, _site, Address) = (app, site, address);

    /// <summary>The address to open, with a token that works once.</summary>
    public string Address { get; }

    /// <summary>Finds the cluster and listens.</summary>
    /// <param name="listen">A loopback address; port 0 takes a free one.</param>
    /// <exception cref="ConsoleStartException">The listener cannot be had.</exception>
    /// <exception cref="ClusterNotFoundException">No process of a cluster answers.</exception>
    public static async Task<ConsoleServer> StartAsync(
        IPEndPoint listen, ConsoleOptions options, CancellationToken cancellationToken = default)
    {
        if (!IPAddress.IsLoopback(listen.Address))
            throw new ConsoleStartException(
                $"The console listens on this machine only, not at {listen.Address}. From another one: forward a port "
                + "('ssh -L PORT:127.0.0.1:PORT'), or switch on \"console\" in a node's \"http\", which asks for "
                + "certificates.");
        var site = new ConsoleSite(options);
        try
        {
            await site.FindAsync(cancellationToken);
            return await ListenAsync(listen, site, cancellationToken);
        }
        catch
        {
            await site.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
        using var limit = new CancellationTokenSource(s_stopTimeout);
        try
        {
            await _app.StopAsync(limit.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            // A browser that does not read keeps nothing from ending.
        }
        finally
        {
            await _app.DisposeAsync();
            await _site.DisposeAsync();
        }
    }

    private static async Task<ConsoleServer> ListenAsync(
        IPEndPoint listen, ConsoleSite site, CancellationToken cancellationToken)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxConcurrentConnections = 256;
            kestrel.Listen(listen);
        });
        builder.Services.AddSingleton<IHostLifetime, ProcessOfAnother>();
        builder.Services.AddRouting();
        var app = builder.Build();
        BrowserGate? gate = null;
        app.Use((context, next) => gate!.InvokeAsync(context, next));
        app.UseRouting();
        site.Map(app);
        try
        {
            await app.StartAsync(cancellationToken);
        }
        catch (Exception e)
        {
            await app.DisposeAsync();
            throw e is IOException { InnerException: AddressInUseException }
                ? new ConsoleStartException(
                    $"The port {listen.Port} of {listen.Address} is occupied by another process: give another one, or "
                    + "0 for a free one.", e)
                : e is IOException or System.Net.Sockets.SocketException
                    ? new ConsoleStartException($"The console cannot listen at {listen}: {e.Message}", e)
                    : e;
        }

        var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses
            .First();
        gate = new BrowserGate(new Uri(address));
        return new ConsoleServer(app, site, $"{address}/{gate.Query}");
    }

    /// <summary>Signals are for the process' own host.</summary>
    private sealed class ProcessOfAnother : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}

/// <summary>The console cannot start.</summary>
public sealed class ConsoleStartException(string message, Exception? inner = null) : CorfuException(message, inner);
