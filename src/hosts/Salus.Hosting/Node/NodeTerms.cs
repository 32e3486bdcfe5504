using Corfu.Client;
using Salus.Coordination;
using Salus.Store.Shell;
using Tango;

namespace Salus.Hosting;

/// <summary>The terms of a node in the log: in each it is registered as another incarnation, for as long as it renews
/// its lease. The log may be away; the node registers when it answers.</summary>
internal sealed class NodeTerms : IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    private readonly RoleStart _start;
    private readonly SalusNodeSettings _settings;
    private readonly StoreFolder _store;
    private readonly ITransport _transport;
    private readonly KnownGenerations _generations;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;
    private volatile string? _trouble = "the log is not reached yet";

    public NodeTerms(RoleStart start, SalusNodeSettings settings, StoreFolder store, ITransport transport,
        KnownGenerations generations)
    {
        (_start, _settings, _store, _transport, _generations) = (start, settings, store, transport, generations);
        _logger = start.Loggers.CreateLogger<NodeTerms>();
    }

    /// <summary>Why the node is not registered; null: it is, or is not to be.</summary>
    public string? Trouble => _trouble;

    public void Start() => _running = LoopContext.Pool.RunAsync(RunAsync);

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running;
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await using var log = await SalusLog.OpenAsync(
                    await ConnectAsync(), _start.Time, _start.Loggers, _stop.Token);
                await FollowAsync(log);
            }
            catch (Exception e) when (_stop.IsCancellationRequested || e is CorfuException or TangoException
                or OperationCanceledException)
            {
                if (_stop.IsCancellationRequested) return;
                if (_trouble != e.Message) SalusHostingLog.NoLog(_logger, e.Message);
                _trouble = e.Message;
            }

            await Task.Delay(s_retry, _start.Time, _stop.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task FollowAsync(SalusLog log)
    {
        while (!_stop.IsCancellationRequested)
        {
            await ServeAsync(log);
        }
    }

    private async Task ServeAsync(SalusLog log)
    {
        var self = new BookedNode(new StoreId(_start.Id.Value), new Incarnation(SystemEntropy.Instance.NewGuid()),
            _start.Endpoint, _settings.Domain, _store.Log.Free, BookedState.Live, 0);
        await using var lease = await log.Nodes.RegisterAsync(self, _settings.LeaseTime, _stop.Token);
        _trouble = null;
        SalusHostingLog.Registered(_logger, self.Incarnation.ToString(), self.Store.ToString());
        using var over = CancellationTokenSource.CreateLinkedTokenSource(lease.Lost, _stop.Token);
        await Task.Delay(Timeout.InfiniteTimeSpan, _start.Time, over.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_stop.IsCancellationRequested) SalusHostingLog.TermOver(_logger, self.Incarnation.ToString());
    }

    private Task<CorfuClient> ConnectAsync()
    {
        var options = _start.Tls is { } tls
            ? CorfuClientOptions.Default with { Tls = new TlsOptions { Source = tls.Source } }
            : CorfuClientOptions.Default;
        return CorfuClient.ConnectAsync(
            _start.Connection, options, _start.Loggers.CreateLogger<CorfuClient>(), _stop.Token);
    }
}
