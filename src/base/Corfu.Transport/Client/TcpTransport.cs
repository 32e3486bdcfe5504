using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Transport;

/// <summary>The production network of a client: one pipelined TCP connection per identity and endpoint, made on demand.
/// While a node cannot be reached, requests to it fail at once between attempts (back-off); callers retry.</summary>
public sealed class TcpTransport : ITransport, IDisposable
{
    /// <summary>Time limits are checked this many times per request time-out.</summary>
    internal const int SweepsPerTimeout = 4;

    private const int MaxReconnects = 4;

    private static readonly ConnectFailure Disposed = new("The transport is disposed.", TransportFault.Unknown);

    private readonly ConcurrentDictionary<NodeAddress, Channel> _channels = new();
    private readonly ConcurrentDictionary<ClientConnection, NodeAddress> _open = new();
    private readonly Dialer _dialer;
    private readonly IEntropy _entropy;
    private readonly ITimer _sweep;
    private readonly long _idleSweeps;
    private long _sweeps;
    private int _sweeping;
    private volatile bool _disposed;

    public TcpTransport(TcpTransportOptions? options = null, TimeProvider? time = null, IEntropy? entropy = null,
        ILogger? logger = null)
    {
        Options = options ?? new TcpTransportOptions();
        Options.Validate();
        Time = time ?? TimeProvider.System;
        _entropy = entropy ?? SystemEntropy.Instance;
        Logger = logger ?? NullLogger.Instance;
        _dialer = new Dialer(Options, Time);
        var interval = Options.RequestTimeout / SweepsPerTimeout;
        _idleSweeps = (long)Math.Ceiling(Options.IdleTimeout / interval);
        if (Options.Tls is { } tls) tls.Changed += OnCertificatesChanged;
        _sweep = Time.CreateTimer(static state => ((TcpTransport)state!).Sweep(), this, interval, interval);
    }

    internal TcpTransportOptions Options { get; }

    internal ILogger Logger { get; }

    internal TimeProvider Time { get; }

    internal long SweepCount => Volatile.Read(ref _sweeps);

    /// <inheritdoc />
    public AccessRole Rights =>
        Options.Tls is { } tls && tls.Identity.Role < Options.Role ? tls.Identity.Role : Options.Role;

    /// <summary>Connections open now.</summary>
    public int ConnectionCount => _open.Count;

    public ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response
    {
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled<TResponse>(cancellationToken);
        try
        {
            return ChannelOf(to).TryGet(out var connection)
                && connection.TryCall(request, cancellationToken, out var answer)
                ? answer
                : ConnectAndCallAsync(to, request, cancellationToken);
        }
        catch (CorfuException e)
        {
            // Returned, not thrown: a caller that starts many calls in a row would lose those already started.
            return ValueTask.FromException<TResponse>(e);
        }
    }

    public async ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        ThrowIfDisposed();
        var dialed = await _dialer.DialAsync(endpoint, NodeId.None, cancellationToken).ConfigureAwait(false);
        if (!dialed.IsOpen) throw dialed.Failure.ToException();
        dialed.Stream.Dispose();
        return dialed.Welcome.Description;
    }

    /// <inheritdoc />
    public void Drop(NodeAddress node)
    {
        if (_channels.TryRemove(node, out var channel)) channel.Drop();
    }

    /// <summary>Closes every connection; requests in flight fail, their outcome unknown.</summary>
    public void Dispose()
    {
        _disposed = true;
        if (Options.Tls is { } tls) tls.Changed -= OnCertificatesChanged;
        _sweep.Dispose();
        foreach (var connection in _open.Keys) connection.Close("the transport was disposed", null);
    }

    internal async Task<Connected> OpenAsync(NodeAddress address, CancellationToken cancellationToken)
    {
        if (_disposed) return new Connected(null, Disposed);
        var dialed = await _dialer.DialAsync(address.Endpoint, address.Id, cancellationToken).ConfigureAwait(false);
        if (!dialed.IsOpen) return new Connected(null, dialed.Failure);
        var connection =
            new ClientConnection(this, address, dialed.Stream, dialed.Welcome.Version, dialed.Tls);
        TransportTelemetry.Connections.Add(1);
        _open[connection] = address;
        connection.Start();
        if (_disposed) connection.Close("the transport was disposed", null);

        // A change between the handshake and the line above was looked at without this connection.
        CheckPeer(connection);
        return new Connected(connection, null);
    }

    internal void Closed(ClientConnection connection, NodeAddress address, string reason)
    {
        if (!_open.TryRemove(connection, out _)) return;
        TransportTelemetry.Connections.Add(-1);
        if (reason is not ("idle" or ClientConnection.Renewed) && !_disposed)
            TransportLog.Lost(Logger, address.ToString(), reason);
    }

    /// <summary>Whether a connection was opened with the certificate that counts now.</summary>
    internal bool HasCurrent(TlsLink link) => ReferenceEquals(link.Credentials, Options.Tls!.Source.Current);

    /// <summary>In time stamp units.</summary>
    internal long BackOffAfter(int failures) => (long)(
        BackOff.After(failures, Options.FirstBackOff, Options.MaxBackOff, _entropy).TotalSeconds
        * Time.TimestampFrequency);

    private Channel ChannelOf(NodeAddress address) =>
        _channels.TryGetValue(address, out var channel)
            ? channel
            : _channels.GetOrAdd(address, static (a, t) => new Channel(t, a), this);

    private async ValueTask<TResponse> ConnectAndCallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        for (var attempt = 0; attempt < MaxReconnects; attempt++)
        {
            ThrowIfDisposed();
            var connected = await ChannelOf(to).ConnectAsync(cancellationToken).ConfigureAwait(false);
            if (connected.Connection is null) throw connected.Failure!.ToException();

            // Lost again before anything was sent: connect anew.
            if (connected.Connection.TryCall(request, cancellationToken, out var answer))
                return await answer.ConfigureAwait(false);
        }

        throw new TransportException($"{to}: the node closes every connection at once.", outcomeUnknown: false);
    }

    private void OnCertificatesChanged()
    {
        foreach (var connection in _open.Keys) CheckPeer(connection);
        foreach (var channel in _channels.Values) channel.Renew();
    }

    private void CheckPeer(ClientConnection connection)
    {
        if (connection.Tls is { } link && Options.Tls!.FaultOf(link.Peer) is { } fault) connection.Close(fault, null);
    }

    private void Sweep()
    {
        // A sweep that outlasts its interval swallows the next one.
        if (Interlocked.Exchange(ref _sweeping, 1) == 1) return;
        var sweep = Interlocked.Increment(ref _sweeps);
        foreach (var connection in _open.Keys) connection.Sweep(sweep, _idleSweeps);
        if (Options.Tls is not null)
        {
            // Attempts with a new certificate that failed are made again.
            foreach (var channel in _channels.Values) channel.Renew();
        }

        if (sweep % _idleSweeps == 0)
        {
            foreach (var (address, channel) in _channels)
            {
                if (channel.IsUnused) _channels.TryRemove(address, out _);
            }
        }

        Volatile.Write(ref _sweeping, 0);
    }

    private void ThrowIfDisposed()
    {
        if (_disposed) throw Disposed.ToException();
    }
}
