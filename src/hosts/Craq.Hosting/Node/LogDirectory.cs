using Corfu.Client;
using Craq.Coordination;
using Tango;

namespace Craq.Hosting;

/// <summary>The directory of a node whose log may be away: the node starts without it, serves the configs that it has
/// installed, and follows the directory once the log answers.</summary>
/// <param name="connect">Connects to the log.</param>
internal sealed class LogDirectory(
    Func<CancellationToken, Task<CorfuClient>> connect, TimeProvider time, ILoggerFactory loggers)
    : IChainDirectory, INodeRegistry, IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    // A read that proves an epoch must not outlast its caller.
    private static readonly TimeSpan s_readLimit = TimeSpan.FromSeconds(2);

    private readonly ILogger _logger = loggers.CreateLogger<LogDirectory>();
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource<TangoChainDirectory> _opened =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Task _connecting = Task.CompletedTask;
    private volatile TangoChainDirectory? _directory;
    private CorfuClient? _client;
    private TangoRuntime? _runtime;

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
        _connecting = LoopContext.Pool.RunAsync(() => ConnectAsync(self, leaseTime));

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
        await _stop.CancelAsync();
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
                var client = _client = await connect(_stop.Token);
                _runtime = new TangoRuntime(client, () => new StreamCursor(client), time, SystemEntropy.Instance,
                    logger: loggers.CreateLogger<TangoRuntime>());
                var directory = await TangoChainDirectory.OpenAsync(_runtime, time, LoopContext.Pool, _stop.Token);
                _lease = new NodeLease(directory, self, leaseTime, time, LoopContext.Pool);
                _directory = directory;
                _opened.SetResult(directory);
                CraqHostingLog.Following(_logger);
                return;
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException or OperationCanceledException)
            {
                if (_trouble != e.Message) CraqHostingLog.NoLog(_logger, e.Message);
                _trouble = e.Message;
                await CloseAsync();
            }

            await Task.Delay(s_retry, time, _stop.Token).ContinueWith(
                static _ => { }, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
    }

    private async ValueTask CloseAsync()
    {
        if (_runtime is { } runtime) await runtime.DisposeAsync();
        if (_client is { } client) await client.DisposeAsync();
        (_runtime, _client) = (null, null);
    }
}
