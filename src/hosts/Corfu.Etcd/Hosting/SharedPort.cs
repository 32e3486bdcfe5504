using System.Buffers;
using System.Net;
using System.Threading.Channels;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Etcd.Hosting;

/// <summary>
/// A port for HTTP/2 and HTTP/1.1 without TLS, as clients of etcd expect it. Kestrel serves both at one endpoint with
/// TLS alone, so it gets an endpoint for each, and each connection goes to one of them by its first bytes.
/// </summary>
/// <param name="sockets">Listens at <paramref name="at"/>.</param>
internal sealed class SharedPort(IConnectionListenerFactory sockets, IPEndPoint at, int mostConnections)
    : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    // A connection that sends nothing is closed.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly CancellationTokenSource _stop = new();
    private IConnectionListener? _listener;
    private Task _accepting = Task.CompletedTask;
    private int _unsorted;
    private int _disposed;

    /// <summary>The endpoint of connections that begin with the preface of HTTP/2.</summary>
    public EndPoint Http2 { get; } = new Half("HTTP/2");

    /// <summary>The endpoint of all others.</summary>
    public EndPoint Http1 { get; } = new Half("HTTP/1.1");

    /// <summary>The address, once both endpoints are bound.</summary>
    public IPEndPoint EndPoint => _listener?.EndPoint as IPEndPoint ?? at;

    public bool CanBind(EndPoint endpoint) => endpoint is Half;

    public async ValueTask<IConnectionListener> BindAsync(
        EndPoint endpoint, CancellationToken cancellationToken = default)
    {
        await _gate.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_listener is null)
            {
                _listener = await sockets.BindAsync(at, cancellationToken).ConfigureAwait(false);
                var listener = _listener;
                _accepting = LoopContext.Pool.RunAsync(() => AcceptAsync(listener));
            }

            return new HalfListener(this, (Half)endpoint);
        }
        finally
        {
            _gate.Release();
        }
    }

    private async Task AcceptAsync(IConnectionListener listener)
    {
        while (await listener.AcceptAsync().ConfigureAwait(false) is { } connection)
        {
            if (Interlocked.Increment(ref _unsorted) <= mostConnections)
            {
                LoopContext.Pool.Start(() => SortAsync(connection));
                continue;
            }

            Interlocked.Decrement(ref _unsorted);
            connection.Abort();
            await connection.DisposeAsync().ConfigureAwait(false);
        }

        ((Half)Http1).Connections.Writer.TryComplete();
        ((Half)Http2).Connections.Writer.TryComplete();
    }

    private async Task SortAsync(ConnectionContext connection)
    {
        try
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
            limit.CancelAfter(s_patience);
            var half = await IsHttp2Async(connection, limit.Token).ConfigureAwait(false) ? Http2 : Http1;
            if (((Half)half).Connections.Writer.TryWrite(connection)) return;
        }
        catch (Exception)
        {
            // The client has gone, or is silent; or the port closes.
        }
        finally
        {
            Interlocked.Decrement(ref _unsorted);
        }

        connection.Abort();
        await connection.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Looks at the first bytes, and leaves them.</summary>
    private static async ValueTask<bool> IsHttp2Async(ConnectionContext connection, CancellationToken cancellationToken)
    {
        // HTTP/1.1 has no method of that name.
        var preface = "PRI "u8.ToArray();
        var input = connection.Transport.Input;
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken).ConfigureAwait(false);
            var first = read.Buffer.Slice(0, Math.Min(read.Buffer.Length, preface.Length)).ToArray();
            var fits = preface.AsSpan().StartsWith(first);
            var isKnown = !fits || first.Length == preface.Length || read.IsCompleted;
            input.AdvanceTo(read.Buffer.Start, isKnown ? read.Buffer.Start : read.Buffer.End);
            if (isKnown) return fits && first.Length == preface.Length;
        }
    }

    private async ValueTask UnbindAsync(CancellationToken cancellationToken)
    {
        if (_listener is not null) await _listener.UnbindAsync(cancellationToken).ConfigureAwait(false);
        await _stop.CancelAsync().ConfigureAwait(false);
        await _accepting.ConfigureAwait(false);
    }

    private async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        if (_listener is not null) await _listener.DisposeAsync().ConfigureAwait(false);
    }

    private sealed class Half(string name) : EndPoint
    {
        public Channel<ConnectionContext> Connections { get; } = Channel.CreateUnbounded<ConnectionContext>();

        public override string ToString() => name;
    }

    private sealed class HalfListener(SharedPort port, Half half) : IConnectionListener
    {
        public EndPoint EndPoint => half;

        public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
        {
            while (await half.Connections.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
            {
                if (half.Connections.Reader.TryRead(out var connection)) return connection;
            }

            return null;
        }

        public ValueTask UnbindAsync(CancellationToken cancellationToken = default) =>
            port.UnbindAsync(cancellationToken);

        public ValueTask DisposeAsync() => port.DisposeAsync();
    }
}
