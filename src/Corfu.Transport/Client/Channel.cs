using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>The way to one identity at one endpoint: its connection, or when to try for one again.</summary>
internal sealed class Channel(TcpTransport transport, NodeAddress address)
{
    private const string Replaced = "the node has been replaced";

    private readonly CancellationTokenSource _dropped = new();
    private readonly Lock _gate = new();
    private volatile ClientConnection? _current;

    // Guarded by _gate. _retryAt is a time stamp of the transport's clock and meaningful while _failures > 0.
    private Task<ClientConnection>? _connecting;
    private long _retryAt;
    private int _failures;
    private string _lastFailure = string.Empty;

    public bool TryGet(out ClientConnection connection)
    {
        connection = _current!;
        return connection is { IsOpen: true };
    }

    public bool IsUnused
    {
        get
        {
            lock (_gate) return _connecting is null && _current is not { IsOpen: true };
        }
    }

    /// <summary>All callers wait for the same attempt, which no caller's cancellation ends.</summary>
    public async ValueTask<ClientConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        Task<ClientConnection> attempt;
        lock (_gate)
        {
            if (_current is { IsOpen: true } current) return current;
            if (_connecting is null && _failures > 0 && transport.Time.GetTimestamp() < _retryAt)
                throw new TransportException($"{address}: not connected ({_lastFailure}).", outcomeUnknown: false) { Fault = TransportFault.BackOff };
            attempt = _connecting ??= OpenAsync();
        }

        return await attempt.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends the connection, or the attempt at one.</summary>
    public void Drop()
    {
        _dropped.Cancel();
        _current?.Close(Replaced, null);
    }

    private async Task<ClientConnection> OpenAsync()
    {
        // Off the gate: what follows may complete at once.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            var connection = await transport.OpenAsync(address, _dropped.Token).ConfigureAwait(false);
            lock (_gate)
            {
                _current = connection;
                _connecting = null;
                _failures = 0;
            }

            if (_dropped.IsCancellationRequested) connection.Close(Replaced, null);
            return connection;
        }
        catch (OperationCanceledException e) when (_dropped.IsCancellationRequested)
        {
            Failed(Replaced);
            throw new TransportException($"{address}: {Replaced}.", outcomeUnknown: false, e) { Fault = TransportFault.Lost };
        }
        catch (Exception e)
        {
            Failed(e.Message);
            throw;
        }
    }

    private void Failed(string why)
    {
        lock (_gate)
        {
            _connecting = null;
            _failures++;
            _lastFailure = why;
            _retryAt = transport.Time.GetTimestamp() + transport.BackOff(_failures);
        }
    }
}
