using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Logging;

namespace Corfu.Server;

/// <summary>The open TLS connections of a listener. Those of a peer that is denied, or whose certificate has ended, end
/// too.</summary>
internal sealed class OpenPeers : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<ConnectionContext, TlsPeer> _open = new();
    private readonly ClusterTls _tls;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();

    // Guarded by _gate. Runs while a connection is open, so that a listener that stopped keeps no timer.
    private ITimer? _timer;

    public OpenPeers(ClusterTls tls, ILogger logger, TimeProvider time)
    {
        _tls = tls;
        _logger = logger;
        _time = time;
        tls.Changed += Check;
    }

    /// <summary>Behind the last connection; the certificates may serve other listeners.</summary>
    public void Dispose() => _tls.Changed -= Check;

    /// <summary>Until <see cref="Remove"/> the connection is looked at.</summary>
    public void Add(ConnectionContext context, TlsPeer peer)
    {
        _open[context] = peer;
        lock (_gate)
        {
            _timer ??= _time.CreateTimer(static peers => ((OpenPeers)peers!).Check(), this, Interval, Interval);
        }

        // A change between the handshake and this line was looked at without the connection.
        Check(context, peer);
    }

    public void Remove(ConnectionContext context)
    {
        _open.TryRemove(context, out _);
        lock (_gate)
        {
            if (!_open.IsEmpty) return;
            _timer?.Dispose();
            _timer = null;
        }
    }

    private void Check()
    {
        foreach (var (context, peer) in _open) Check(context, peer);
    }

    private void Check(ConnectionContext context, TlsPeer peer)
    {
        if (_tls.FaultOf(peer) is not { } fault || !_open.TryRemove(context, out _)) return;
        ServerTelemetry.Dropped.Add(1, ServerTelemetry.Reason("certificate"));
        ServerLog.Dropped(_logger, context.ConnectionId, $"{ServerConnection.PeerOf(context)} ({peer.Principal})",
            fault);
        context.Abort(new ConnectionAbortedException(fault));
    }
}
