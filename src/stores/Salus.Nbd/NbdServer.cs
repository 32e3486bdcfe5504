using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Salus.Nbd.Exports;
using Salus.Nbd.Limits;

namespace Salus.Nbd;

/// <summary>
/// Serves volumes to clients of NBD, the protocol of network block devices: Linux, QEMU, libnbd. A write has its place
/// among all writes of the volume when its last byte has come. A flush covers the writes of all clients.
/// </summary>
public sealed class NbdServer : IAsyncDisposable
{
    private static readonly TimeSpan s_sweep = TimeSpan.FromSeconds(1);

    private readonly NbdServices _services;
    private readonly ConcurrentDictionary<NbdConnection, Task> _connections = new();
    private ITimer? _sweeping;
    private CorfuListener? _listener;
    private int _open;
    private volatile bool _isStopping;
    private int _disposed;

    private NbdServer(NbdServices services) => _services = services;

    /// <summary>The address at which the server listens.</summary>
    public IPEndPoint EndPoint { get; private set; } = new(IPAddress.None, 0);

    /// <param name="endpoint">Port 0: any port that is free.</param>
    /// <param name="tls">Options for each handshake. Null: connections are not encrypted.</param>
    /// <exception cref="ListenException">The port is occupied.</exception>
    /// <exception cref="ArgumentException">An option is out of range, or two exports have one name.</exception>
    public static async Task<NbdServer> StartAsync(IPEndPoint endpoint, IEnumerable<NbdExport> exports,
        ILoggerFactory loggers, NbdServerOptions? options = null, Func<SslServerAuthenticationOptions>? tls = null,
        TimeProvider? time = null, CancellationToken cancellationToken = default)
    {
        options ??= NbdServerOptions.Default;
        options.Validate();
        time ??= TimeProvider.System;
        var logger = loggers.CreateLogger<NbdServer>();
        var table = new ExportTable(options, logger, time);
        foreach (var export in exports) table.Add(export);
        var server = new NbdServer(
            new NbdServices(options, table, new ByteBudget(options.MaxBytes), tls, logger, time));
        try
        {
            ListenOptions? listening = null;
            server._listener = await CorfuListener.StartAsync(endpoint, listen =>
            {
                listening = listen;
                listen.Run(server.ServeAsync);
            }, loggers, cancellationToken).ConfigureAwait(false);
            server.EndPoint = listening?.IPEndPoint ?? endpoint;
            server._sweeping = time.CreateTimer(_ => server.Sweep(), null, s_sweep, s_sweep);
            NbdLog.Serving(logger, server.EndPoint.ToString());
            return server;
        }
        catch
        {
            await server.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Serves one more volume, such as a snapshot that was just made.</summary>
    /// <exception cref="ArgumentException">The name is taken.</exception>
    public void Add(NbdExport export) => _services.Exports.Add(export);

    /// <summary>Serves a volume no longer: its clients get ESHUTDOWN, and it is closed.</summary>
    /// <returns>False: there is no export of that name.</returns>
    public Task<bool> RemoveAsync(string name) => _services.Exports.RemoveAsync(name);

    /// <summary>Refuses new commands, lets those under way end, closes connections and then the volumes.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        _isStopping = true;
        foreach (var connection in _connections.Keys) connection.Stop();
        try
        {
            await Task.WhenAll(_connections.Values)
                .WaitAsync(_services.Options.StopTimeout, _services.Time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            foreach (var connection in _connections.Keys) connection.Cancel();
        }

        // A volume that is closed ends its calls, so that no connection waits any longer.
        await _services.Exports.CloseAsync().ConfigureAwait(false);
        if (_listener is not null) await _listener.DisposeAsync().ConfigureAwait(false);
        if (_sweeping is not null) await _sweeping.DisposeAsync().ConfigureAwait(false);
    }

    private async Task ServeAsync(ConnectionContext context)
    {
        var peer = context.RemoteEndPoint?.ToString() ?? "a client";
        if (Interlocked.Increment(ref _open) > _services.Options.MaxConnections || _isStopping)
        {
            Interlocked.Decrement(ref _open);
            NbdLog.Refused(_services.Logger, peer, _isStopping
                ? "the server stops"
                : $"{_services.Options.MaxConnections} connections are open");
            context.Abort();
            return;
        }

        KeepAlive(context);
        var connection = new NbdConnection(peer, _services, context.ConnectionClosed);
        var end = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _connections[connection] = end.Task;
        // A stop between the look above and this line has not seen the connection.
        if (_isStopping) connection.Stop();
        try
        {
            await connection.ServeAsync(context.Transport).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _open);
            _connections.TryRemove(connection, out _);
            end.SetResult();
        }
    }

    // A disk may be idle for days: only the kernel's probes tell a client that has vanished, which would hold the
    // volume's lease for ever.
    private static void KeepAlive(ConnectionContext context)
    {
        if (context.Features.Get<IConnectionSocketFeature>()?.Socket is not { } socket) return;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, 30);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, 5);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
    }

    private void Sweep()
    {
        foreach (var connection in _connections.Keys) connection.Sweep();
    }
}
