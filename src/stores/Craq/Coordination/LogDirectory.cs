using Microsoft.Extensions.Logging;
using Tango;

namespace Craq.Coordination;

/// <summary>The directory of a node whose log may be away: the node starts without it, serves the configs that it has
/// installed, and follows the directory once the log answers.</summary>
/// <param name="connect">Connects to the log.</param>
internal sealed partial class LogDirectory(
    Func<CancellationToken, Task<LogSession>> connect, TimeProvider time, LoopContext loops, ILogger logger)
    : IChainDirectory, INodeRegistry, IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    // A read that proves an epoch must not outlast its caller.
    private static readonly TimeSpan s_readLimit = TimeSpan.FromSeconds(2);

    private readonly ILogger _logger = logger;
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource<TangoChainDirectory> _opened =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Task _connecting = Task.CompletedTask;
    private volatile TangoChainDirectory? _directory;
    private LogSession? _session;

    // Invariant: set before _directory, and before _opened completes.
    private NodeLease? _lease;
    private string? _trouble;

    public DirectoryView View => _directory?.View ?? DirectoryView.Empty;

    public bool Proves(ChainConfig config) => _directory is not null && _lease!.Proves(config);

    /// <summary>Why the node does not follow the directory, or is not registered; null: it does and is.</summary>
    public string? Trouble => _directory is null
        ? _trouble is { } why ? $"the log is not reached: {why}" : "the log is not reached yet"
        : _lease is { IsRegistered: false, Failure: { } failure }
            ? $"it is not registered in the directory: {failure.Message}" : null;

    /// <summary>Connects, and registers the node as long as this object lives.</summary>
    public void Start(DirectoryNode self, TimeSpan leaseTime) =>
        _connecting = loops.RunAsync(() => ConnectAsync(self, leaseTime));

    public async ValueTask<DirectoryView> ReadAsync(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(s_readLimit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            return await (await OpenedAsync(either.Token)).ReadAsync(either.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new CorfuException("The directory of chains cannot be read: the log does not answer in time.");
        }
    }

    public async ValueTask<DirectoryView> WaitAsync(DirectoryView after, CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).WaitAsync(after, cancellationToken);

    public async ValueTask<ChangeOutcome> TryChangeAsync(ChainId chain, Epoch expected, ChainChange change,
        CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).TryChangeAsync(chain, expected, change, cancellationToken);

    public async ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).OpenedAsync(chain, epoch, cancellationToken);

    public async ValueTask<TransactionOutcome> DecideAsync(
        Guid transaction, TransactionDecision wanted, CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).DecideAsync(transaction, wanted, cancellationToken);

    public async ValueTask<IReadOnlyDictionary<Guid, TransactionDecision>> DecisionsAsync(
        CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).DecisionsAsync(cancellationToken);

    public async ValueTask DropDecisionAsync(Guid transaction, CancellationToken cancellationToken) =>
        await (await OpenedAsync(cancellationToken)).DropDecisionAsync(transaction, cancellationToken);

    public async ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken)
    {
        await OpenedAsync(cancellationToken);
        return await _lease!.EvictAsync(node, cancellationToken);
    }

    public async ValueTask<bool> ReleaseAsync(ChainConfig config, CancellationToken cancellationToken)
    {
        await OpenedAsync(cancellationToken);
        return await _lease!.ReleaseAsync(config, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _connecting;
        _opened.TrySetException(new ObjectDisposedException(nameof(LogDirectory)));
        _opened.Task.Abandon();
        if (_lease is not null) await _lease.DisposeAsync();
        if (_directory is not null) await _directory.DisposeAsync();
        await CloseAsync();
        _stop.Dispose();
    }

    private Task<TangoChainDirectory> OpenedAsync(CancellationToken cancellationToken) =>
        _opened.Task.WaitOrCancelAsync(cancellationToken);

    private async Task ConnectAsync(DirectoryNode self, TimeSpan leaseTime)
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                _session = await connect(_stop.Token);
                var directory = await TangoChainDirectory.OpenAsync(_session.Runtime, time, loops, _stop.Token);
                _lease = new NodeLease(directory, self, leaseTime, time, loops);
                _directory = directory;
                _opened.SetResult(directory);
                LogFollowing();
                return;
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException or OperationCanceledException)
            {
                if (_trouble != e.Message) LogAway(e.Message);
                _trouble = e.Message;
                await CloseAsync();
            }

            await PauseAsync();
        }
    }

    private async Task PauseAsync()
    {
        try
        {
            await Task.Delay(s_retry, time, _stop.Token);
        }
        catch (OperationCanceledException)
        {
            // The loop ends.
        }
    }

    private async ValueTask CloseAsync()
    {
        if (_session is { } session) await session.DisposeAsync();
        _session = null;
    }

    [LoggerMessage(1, LogLevel.Information, "The directory of chains is followed, and the node is registered in it")]
    private partial void LogFollowing();

    [LoggerMessage(2, LogLevel.Warning,
        "The log is not reached; the node serves the chains that it has installed: {Reason}")]
    private partial void LogAway(string reason);
}

/// <summary>A runtime over a connection to the log.</summary>
/// <param name="Connection">Closed with the runtime; null: it needs no end.</param>
internal sealed record LogSession(TangoRuntime Runtime, IAsyncDisposable? Connection) : IAsyncDisposable
{
    public async ValueTask DisposeAsync()
    {
        await Runtime.DisposeAsync();
        if (Connection is not null) await Connection.DisposeAsync();
    }
}
