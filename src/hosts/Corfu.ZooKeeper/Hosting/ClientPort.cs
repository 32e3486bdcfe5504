using System.Net;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>The listener of a front end. Before the front end serves, and after it, a connection is closed without an
/// answer: clients try the next address.</summary>
internal sealed class ClientPort : IAsyncDisposable
{
    private CorfuListener? _listener;

    private ClientPort()
    {
    }

    /// <summary>Serves a connection to its end. Null: none is served.</summary>
    public volatile Func<ConnectionContext, Task>? Serve;

    /// <summary>The address at which it listens.</summary>
    public IPEndPoint EndPoint { get; private set; } = new(IPAddress.None, 0);

    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<ClientPort> OpenAsync(
        ZooKeeperFrontEndOptions options, CancellationToken cancellationToken)
    {
        var port = new ClientPort();
        ListenOptions? listening = null;
        port._listener = await CorfuListener.StartAsync(options.Listen, listen =>
        {
            listening = listen;
            listen.Run(port.RunAsync);
        }, options.Loggers, cancellationToken).ConfigureAwait(false);
        port.EndPoint = listening?.IPEndPoint ?? options.Listen;
        return port;
    }

    public async ValueTask DisposeAsync()
    {
        if (_listener is not null) await _listener.DisposeAsync().ConfigureAwait(false);
    }

    private Task RunAsync(ConnectionContext context)
    {
        if (Serve is { } serve) return serve(context);
        context.Abort();
        return Task.CompletedTask;
    }
}
