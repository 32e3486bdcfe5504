using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Server;

/// <summary>A listener of Kestrel for connections that are no HTTP.</summary>
public sealed class CorfuListener : IAsyncDisposable
{
    // A connection that is not read holds this much: the rest waits at its peer. Frames that arrive are not held up.
    private const int ReadBuffer = 256 << 10;

    private static readonly SocketTransportOptions s_apart = new() { MaxReadBufferSize = ReadBuffer };

    // A handler that blocks holds up its own connection. It holds up others only in a process whose socket completions
    // run inline (SocketCompletions); else .NET hands each socket that is ready to the pool.
    private static readonly SocketTransportOptions s_inline = new()
    {
        MaxReadBufferSize = ReadBuffer,
        UnsafePreferInlineScheduling = true,
    };

    private readonly KestrelServer _server;

    private CorfuListener(KestrelServer server) => _server = server;

    /// <param name="configure">Says how connections are served.</param>
    /// <exception cref="ListenException">The port is occupied, or the address is none of this machine.</exception>
    public static Task<CorfuListener> StartAsync(IPEndPoint endpoint, Action<ListenOptions> configure,
        ILoggerFactory loggers, CancellationToken cancellationToken) =>
        StartAsync(endpoint, configure, loggers, inline: false, cancellationToken);

    /// <param name="configure">Says how connections are served.</param>
    /// <param name="inline">The thread that receives bytes handles them, and the thread that has answers sends them. A
    /// connection that is ended goes on within the call that ends it, so that call holds no lock which the connection
    /// takes.</param>
    /// <exception cref="ListenException">The port is occupied, or the address is none of this machine.</exception>
    public static async Task<CorfuListener> StartAsync(IPEndPoint endpoint, Action<ListenOptions> configure,
        ILoggerFactory loggers, bool inline, CancellationToken cancellationToken)
    {
        var options = new KestrelServerOptions { ApplicationServices = NoServices.Instance };
        options.Listen(endpoint, configure);
        var transport = new SocketTransportFactory(Options.Create(inline ? s_inline : s_apart), loggers);
        var server = new KestrelServer(Options.Create(options), transport, loggers);
        try
        {
            await server.StartAsync(new NoHttp(), cancellationToken);
            return new CorfuListener(server);
        }
        catch (Exception e)
        {
            server.Dispose();
            throw e is IOException { InnerException: AddressInUseException }
                ? new ListenException(
                    $"The port {endpoint.Port} of {endpoint.Address} is occupied by another process.", e)
                : e is IOException or SocketException
                    ? new ListenException($"The process cannot listen at {endpoint}: {e.Message}", e)
                    : e;
        }
    }

    /// <summary>Ends the listener, and waits for the ends of its connections.</summary>
    public async ValueTask DisposeAsync()
    {
        await _server.StopAsync(CancellationToken.None);
        _server.Dispose();
    }

    /// <summary>Kestrel asks for an HTTP application even where no endpoint speaks HTTP.</summary>
    private sealed class NoHttp : IHttpApplication<object>
    {
        public object CreateContext(IFeatureCollection contextFeatures) => contextFeatures;

        public Task ProcessRequestAsync(object context) => Task.CompletedTask;

        public void DisposeContext(object context, Exception? exception)
        {
        }
    }

    private sealed class NoServices : IServiceProvider
    {
        public static readonly NoServices Instance = new();

        public object? GetService(Type serviceType) => null;
    }
}

/// <summary>A process cannot listen at an address.</summary>
public sealed class ListenException(string message, Exception inner) : CorfuException(message, inner);
