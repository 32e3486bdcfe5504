using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>One connection after its handshake: requests out (coalesced), answers in, in any order.</summary>
internal sealed partial class ClientConnection
{
    private readonly TcpTransport _transport;
    private readonly TcpTransportOptions _options;
    private readonly NodeAddress _address;
    private readonly Socket _socket;
    private readonly ushort _version;
    private readonly Lock _tableGate = new();
    private readonly List<PendingCall> _expired = [];

    // Guarded by _tableGate. After _lost is set the table stays empty.
    private readonly PendingTable _table = new();
    private string? _lost;

    /// <summary>Sweep in which something was last received or sent anew on an idle connection.</summary>
    private long _activeSweep;

    public ClientConnection(TcpTransport transport, NodeAddress address, Socket socket, ushort version)
    {
        _transport = transport;
        _options = transport.Options;
        _address = address;
        _socket = socket;
        _version = version;
        _activeSweep = transport.SweepCount;
    }

    public bool IsOpen => Volatile.Read(ref _lost) is null;

    public void Start() => _ = ReceiveAsync();

    /// <summary>False when the connection was lost before anything was sent: another may be tried.</summary>
    public bool TryCall<TResponse>(Request<TResponse> request, CancellationToken cancellationToken,
        out ValueTask<TResponse> answer)
        where TResponse : Response
    {
        answer = default;
        var call = PendingCall<TResponse>.Rent(request, _options.InlineContinuations);
        call.Deadline = _transport.SweepCount + TcpTransport.SweepsPerTimeout + 1;
        bool alone;
        lock (_tableGate)
        {
            if (_lost is not null)
            {
                call.Abandon();
                return false;
            }

            if (_table.Count >= _options.MaxInFlight)
            {
                call.Abandon();
                throw new TransportException($"{_address}: {_options.MaxInFlight} requests are in flight.",
                    outcomeUnknown: false);
            }

            if (_table.Count == 0) Volatile.Write(ref _activeSweep, _transport.SweepCount);
            _table.Add(call);
            alone = _table.Count == 1;
        }

        // Taken before anybody can complete the call, and with it recycle it.
        var correlation = call.Correlation;
        answer = call.AsValueTask();
        try
        {
            Send(correlation, request, alone);
        }
        catch
        {
            // Nothing was sent. If the call is not ours any more, it has failed for another reason, and the caller
            // hears that one.
            if (!TryTake(call)) return true;
            call.Abandon();
            throw;
        }

        call.CancelWith(this, cancellationToken);
        return true;
    }

    public bool TryTake(PendingCall call)
    {
        lock (_tableGate) return _table.Take(call);
    }

    /// <summary>Called by the transport's sweep: fails calls that are over time, and the connection when it is dead or
    /// idle.</summary>
    public void Sweep(long sweep, long idleSweeps)
    {
        bool idle;
        lock (_tableGate)
        {
            _table.TakeExpired(sweep, _expired);
            idle = _table.Count == 0 && _expired.Count == 0 && sweep - Volatile.Read(ref _activeSweep) > idleSweeps;
        }

        if (idle) Close("idle", null);
        if (_expired.Count == 0) return;
        TransportTelemetry.Timeouts.Add(_expired.Count);
        foreach (var call in _expired)
            call.Fail(new TransportException($"{_address}: no answer to a {call.Request.Opcode} in time.",
                outcomeUnknown: true)
            { Fault = TransportFault.TimedOut });
        _expired.Clear();

        // Not a byte since before the expired calls were sent: the peer, or the way to it, is dead. A new connection
        // may find a new way.
        if (sweep - Volatile.Read(ref _activeSweep) >= TcpTransport.SweepsPerTimeout) Close("it has gone silent", null);
    }

    /// <summary>Ends the connection; every request without an answer fails, its outcome unknown.</summary>
    public void Close(string reason, Exception? inner)
    {
        List<PendingCall> orphans = [];
        lock (_tableGate)
        {
            if (_lost is not null) return;
            _table.TakeExpired(long.MaxValue, orphans);
            Volatile.Write(ref _lost, reason);
        }

        _socket.Dispose();
        _transport.Closed(this, _address, reason);
        foreach (var call in orphans)
            call.Fail(new TransportException($"{_address}: the connection was lost: {reason}.", outcomeUnknown: true,
                inner)
            { Fault = TransportFault.Lost });
    }
}
