namespace Corfu.Transport;

/// <summary>A connection after its handshake: requests out (coalesced), answers in, in any order.</summary>
internal sealed partial class ClientConnection
{
    /// <summary>Reason of the end of a connection whose certificate has been renewed.</summary>
    public const string Renewed = "a connection with the new certificate took over";

    private readonly TcpTransport _transport;
    private readonly TcpTransportOptions _options;
    private readonly NodeAddress _address;
    private readonly PeerStream _stream;
    private readonly ushort _version;
    private readonly Lock _tableGate = new();
    private readonly List<PendingCall> _expired = [];

    // Guarded by _tableGate. After _lost is set the table stays empty. A retired connection takes no new requests, and
    // is lost once the table is empty. Correlations only count up, so a late answer to
    // a cancelled call finds none.
    private readonly Dictionary<uint, PendingCall> _table = [];
    private uint _nextCorrelation;
    private string? _lost;
    private bool _isRetired;

    /// <summary>Sweep of the last receipt, or of the last request on an idle connection.</summary>
    private long _activeSweep;

    public ClientConnection(TcpTransport transport, NodeAddress address, PeerStream stream, ushort version,
        TlsLink? tls)
    {
        _transport = transport;
        _options = transport.Options;
        _address = address;
        _stream = stream;
        Tls = tls;
        _version = version;
        _activeSweep = transport.SweepCount;
    }

    /// <summary>Null without TLS.</summary>
    public TlsLink? Tls { get; }

    /// <summary>Takes requests.</summary>
    public bool IsOpen => Volatile.Read(ref _lost) is null && !Volatile.Read(ref _isRetired);

    public void Start() => LoopContext.Pool.Start(ReceiveAsync);

    /// <summary>False when the connection was lost before anything was sent: another may be tried.</summary>
    public bool TryCall<TResponse>(Request<TResponse> request, CancellationToken cancellationToken,
        out ValueTask<TResponse> answer)
        where TResponse : Response
    {
        answer = default;
        var call = PendingCall<TResponse>.Rent(request, _options.InlineContinuations);
        call.Deadline = _transport.SweepCount + TcpTransport.SweepsPerTimeout + 1;
        if (TransportTelemetry.CallTime.Enabled) call.Began = _transport.Time.GetTimestamp();
        if (_version >= WireProtocol.Traces) call.Span = TransportTelemetry.StartCall(request.Opcode, _address);
        bool alone;
        lock (_tableGate)
        {
            if (_lost is not null || _isRetired)
            {
                call.Recycle();
                return false;
            }

            if (_table.Count >= _options.MaxInFlight)
            {
                call.Recycle();
                throw new TransportException($"{_address}: {_options.MaxInFlight} requests are in flight.",
                    outcomeUnknown: false);
            }

            if (_table.Count == 0) Volatile.Write(ref _activeSweep, _transport.SweepCount);
            while (!_table.TryAdd(_nextCorrelation, call)) _nextCorrelation++;
            call.Correlation = _nextCorrelation++;
            alone = _table.Count == 1;
        }

        // Before the call can be completed, and with it recycled.
        var correlation = call.Correlation;
        var trace = call.Span?.Context ?? default;
        answer = call.AsValueTask();
        try
        {
            Send(correlation, request, trace, alone);
        }
        catch
        {
            // Nothing was sent. A call that is gone from the table has failed for another reason, which the answer has.
            if (!TryTake(call)) return true;
            call.Recycle();
            throw;
        }

        call.CancelWith(this, cancellationToken);
        return true;
    }

    public bool TryTake(PendingCall call)
    {
        bool taken, drained;
        lock (_tableGate)
        {
            taken = _table.TryGetValue(call.Correlation, out var pending) && pending == call
                && _table.Remove(call.Correlation);
            drained = IsDrained;
        }

        if (drained) Close(Renewed, null);
        return taken;
    }

    /// <summary>Another connection takes the requests from now on; this one ends after its last answer.</summary>
    public void Retire()
    {
        bool drained;
        lock (_tableGate)
        {
            Volatile.Write(ref _isRetired, true);
            drained = IsDrained;
        }

        if (drained) Close(Renewed, null);
    }

    /// <summary>Fails calls that are over time, and closes the connection when it is dead or idle.</summary>
    public void Sweep(long sweep, long idleSweeps)
    {
        bool idle;
        lock (_tableGate)
        {
            TakeExpired(sweep, _expired);
            idle = _table.Count == 0 && _expired.Count == 0
                && (_isRetired || sweep - Volatile.Read(ref _activeSweep) > idleSweeps);
        }

        if (idle) Close("idle", null);
        if (_expired.Count == 0) return;
        TransportTelemetry.Timeouts.Add(_expired.Count);
        foreach (var call in _expired)
            FailUnknown(call, TransportFault.TimedOut, $"no answer to a {call.Request.Opcode} in time.");
        _expired.Clear();

        // Not a byte since before the expired calls were sent: a new connection may reach the peer by another route.
        if (sweep - Volatile.Read(ref _activeSweep) >= TcpTransport.SweepsPerTimeout) Close("it has gone silent", null);
    }

    /// <summary>Ends the connection; every request without an answer fails, its outcome unknown.</summary>
    public void Close(string reason, Exception? inner)
    {
        List<PendingCall> orphans = [];
        lock (_tableGate)
        {
            if (_lost is not null) return;
            TakeExpired(long.MaxValue, orphans);
            Volatile.Write(ref _lost, reason);
        }

        _stream.Dispose();
        _transport.Closed(this, _address, reason);
        foreach (var call in orphans)
            FailUnknown(call, TransportFault.Lost, $"the connection was lost: {reason}.", inner);
    }

    // Under the gate.
    private bool IsDrained => _isRetired && _table.Count == 0;

    // Under the gate.
    private void TakeExpired(long sweep, List<PendingCall> expired)
    {
        expired.AddRange(_table.Values.Where(call => call.Deadline <= sweep));
        foreach (var call in expired) _table.Remove(call.Correlation);
    }

    private void FailUnknown(PendingCall call, TransportFault fault, string why, Exception? inner = null)
    {
        if (call.Span is { } span) TransportTelemetry.End(span, fault.ToString());
        if (call.Began != 0)
            TransportTelemetry.RecordCall(
                _transport.Time.GetElapsedTime(call.Began), call.Request.Opcode, fault.ToString());
        call.Fail(new TransportException($"{_address}: {why}", outcomeUnknown: true, inner) { Fault = fault });
    }
}
