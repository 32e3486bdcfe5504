namespace Corfu.Transport;

/// <summary>The connection to an identity at an endpoint, or the time of the next attempt.</summary>
internal sealed class Channel(TcpTransport transport, NodeAddress address)
{
    private const string Replaced = "the node has been replaced";

    private readonly CancellationTokenSource _dropped = new();
    private readonly Lock _gate = new();
    private volatile ClientConnection? _current;

    // Ends after its last answer; _current has taken over.
    private volatile ClientConnection? _retired;

    // Guarded by _gate. _retryAt is a time stamp of the transport's clock and meaningful while _failures > 0.
    private Task<Connected>? _connecting;
    private long _retryAt;
    private int _failures;
    private string _lastFailure = string.Empty;
    private bool _renewing;

    public bool TryGet(out ClientConnection connection)
    {
        connection = _current!;
        return connection is { IsOpen: true };
    }

    public bool IsUnused
    {
        get
        {
            lock (_gate) return _connecting is null && !_renewing && _current is not { IsOpen: true };
        }
    }

    /// <summary>All callers wait for the same attempt, which no caller's cancellation ends.</summary>
    public ValueTask<Connected> ConnectAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource<Connected> attempt;
        lock (_gate)
        {
            if (_current is { IsOpen: true } current) return new ValueTask<Connected>(new Connected(current, null));
            if (_connecting is { } begun) return new ValueTask<Connected>(begun.WaitAsync(cancellationToken));
            if (_failures > 0 && transport.Time.GetTimestamp() < _retryAt)
            {
                var backOff = new ConnectFailure($"{address}: not connected ({_lastFailure}).", TransportFault.BackOff);
                return new ValueTask<Connected>(new Connected(null, backOff));
            }

            // The thread that ends the attempt receives for others too.
            attempt = new TaskCompletionSource<Connected>(TaskCreationOptions.RunContinuationsAsynchronously);
            _connecting = attempt.Task;
        }

        // Outside the lock: it may complete synchronously.
        LoopContext.Pool.Start(() => OpenAsync(attempt));
        return new ValueTask<Connected>(attempt.Task.WaitAsync(cancellationToken));
    }

    /// <summary>Ends the connection, or the attempt at one.</summary>
    public void Drop()
    {
        _dropped.Cancel();
        _current?.Close(Replaced, null);
        _retired?.Close(Replaced, null);
    }

    /// <summary>Opens a connection with the new certificate where the one of an open connection was renewed. Until then
    /// the old one takes requests: a peer that does not know the new authority yet stops none of them.</summary>
    public void Renew()
    {
        lock (_gate)
        {
            if (_renewing || _connecting is not null || _current is not { IsOpen: true } current) return;
            if (current.Tls is not { } link || transport.HasCurrent(link)) return;
            _renewing = true;
        }

        LoopContext.Pool.Start(RenewAsync);
    }

    private async Task RenewAsync()
    {
        var connected = await TryOpenAsync().ConfigureAwait(false);
        ClientConnection? before = null;
        lock (_gate)
        {
            _renewing = false;
            if (connected.Connection is { } renewed) before = TakeOver(renewed);
        }

        before?.Retire();
        if (_dropped.IsCancellationRequested) connected.Connection?.Close(Replaced, null);
        else if (connected.Failure is { } failure)
            TransportLog.CannotRenew(transport.Logger, address.ToString(), failure.Message);
    }

    private async Task OpenAsync(TaskCompletionSource<Connected> attempt)
    {
        var connected = await TryOpenAsync().ConfigureAwait(false);
        if (connected.Connection is not { } connection)
        {
            Failed(connected.Failure!.Message);
            attempt.SetResult(connected);
            return;
        }

        ClientConnection? before;
        int failures;
        lock (_gate)
        {
            // A renewal that was begun earlier may have ended first.
            before = TakeOver(connection);
            _connecting = null;
            failures = _failures;
            _failures = 0;
            _lastFailure = string.Empty;
        }

        before?.Retire();
        if (failures > 0) TransportLog.ConnectedAgain(transport.Logger, address.ToString(), failures);
        if (_dropped.IsCancellationRequested) connection.Close(Replaced, null);
        attempt.SetResult(connected);
    }

    private async Task<Connected> TryOpenAsync()
    {
        try
        {
            return await transport.OpenAsync(address, _dropped.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException e) when (_dropped.IsCancellationRequested)
        {
            return new Connected(null, new ConnectFailure($"{address}: {Replaced}.", TransportFault.Lost, e));
        }
        catch (Exception e)
        {
            return new Connected(null, new ConnectFailure($"{address}: {e.Message}", TransportFault.Unknown, e));
        }
    }

    /// <summary>Under the gate. _retired is set first: Drop takes no gate and reads _current first, so it closes both
    /// or comes before the connection, whose opener then closes it.</summary>
    /// <returns>The open connection before, to be retired outside the gate.</returns>
    private ClientConnection? TakeOver(ClientConnection connection)
    {
        var before = _current is { IsOpen: true } open ? open : null;
        if (before is not null) _retired = before;
        _current = connection;
        return before;
    }

    private void Failed(string why)
    {
        bool isNew;
        lock (_gate)
        {
            _connecting = null;
            _failures++;
            isNew = why != _lastFailure;
            _lastFailure = why;
            _retryAt = transport.Time.GetTimestamp() + transport.BackOffAfter(_failures);
        }

        // An unreachable node is tried many times a second: only changes are logged.
        if (isNew) TransportLog.CannotConnect(transport.Logger, address.ToString(), why);
    }
}
