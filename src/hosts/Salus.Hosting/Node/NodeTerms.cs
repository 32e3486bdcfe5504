using System.Threading.Channels;
using Corfu.Client;
using Salus.Coordination;
using Salus.Store;
using Tango;

namespace Salus.Hosting;

/// <summary>The terms of a node in the log: in each it is registered as another incarnation and has region servers
/// under that identity, for as long as it renews its lease. The log may be away; the node registers when it
/// answers.</summary>
internal sealed class NodeTerms : IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_look = TimeSpan.FromSeconds(1);

    private readonly NodeParts _parts;
    private readonly RoleStart _start;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;
    private volatile string? _trouble = "the log is not reached yet";
    private volatile string? _sweepFault;

    // Written by the loop alone.
    private volatile NodeTerm? _term;

    public NodeTerms(NodeParts parts)
    {
        (_parts, _start) = (parts, parts.Start);
        _logger = _start.Loggers.CreateLogger<NodeTerms>();
    }

    /// <summary>Why the node is a member of no region; null: it may be, or is not to be.</summary>
    public string? Trouble => _trouble;

    /// <summary>Why regions of deleted volumes cannot be dropped; null: they can. Tried again each second.</summary>
    public string? SweepFault => _sweepFault;

    /// <summary>The incarnation under which the node serves regions now; null: it serves none.</summary>
    public Incarnation? Incarnation => _term?.Incarnation;

    /// <summary>Regions that the node is a member of, and those of them that are being recovered.</summary>
    public (int Member, int Recovering) Regions => _term?.Regions ?? default;

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
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException or OperationCanceledException)
            {
                if (_trouble != e.Message) SalusHostingLog.NoLog(_logger, e.Message);
                _trouble = e.Message;
            }
            catch (Exception e)
            {
                SalusHostingLog.Failed(_logger, e);
                _trouble = $"the node does not follow the log: {e.Message}";
            }

            await Task.Delay(s_retry, _start.Time, _stop.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task FollowAsync(SalusLog log)
    {
        _parts.Generations.Follow(log.Map);
        try
        {
            if (_parts.Settings.StoreOnly || _parts.Store.Log.State != StoreState.Serving)
            {
                // Not registered, so that no region is placed here. The agent acts for other nodes.
                await using var agent = await StartAgentAsync(log);
                _trouble = null;
                await Task.Delay(Timeout.InfiniteTimeSpan, _start.Time, _stop.Token);
            }
            else
            {
                await ServeAsync(log);
            }
        }
        finally
        {
            _parts.Generations.Follow(null);
        }
    }

    private async Task ServeAsync(SalusLog log)
    {
        var changes = Channel.CreateBounded<bool>(
            new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
        await using var lease = new NodeLease(log.Map.Book, new NodeRegistration(new StoreId(_start.Id.Value),
            _start.Endpoint, _parts.Settings.Domain, Free(), _parts.Settings.LeaseTime), _start.Time,
            SystemEntropy.Instance, LoopContext.Pool, _logger);
        lease.Changed += () => changes.Writer.TryWrite(true);
        await using var agent = await StartAgentAsync(log);
        try
        {
            while (true)
            {
                await RenewAsync(log, lease);
                _trouble = _term is null
                    ? $"it is not registered in the log: {lease.Failure?.Message ?? "that is under way"}"
                    : null;
                lease.SetFree(Free());
                await SweepAsync(log.Map.View);
                await WaitAsync(changes.Reader);
            }
        }
        finally
        {
            // Before the lease ends: others count on the silence of its incarnation (S8).
            await EndTermAsync();
        }
    }

    // A term has the incarnation of the lease, or there is none.
    private async Task RenewAsync(SalusLog log, NodeLease lease)
    {
        var incarnation = lease.Incarnation;
        if (_term is { } term)
        {
            if (term.Incarnation == incarnation) return;
            SalusHostingLog.TermOver(_logger, term.Incarnation.ToString());
            await EndTermAsync();
        }

        if (incarnation.IsNone) return;
        _term = NodeTerm.Begin(_parts, log, lease, incarnation);
        SalusHostingLog.TermBegins(_logger, incarnation.ToString());
    }

    private async Task EndTermAsync()
    {
        if (_term is not { } term) return;
        _term = null;
        await term.DisposeAsync();
    }

    // A region server of this process that still has the region ends first: the next look finds it gone.
    private async Task SweepAsync(MapView view)
    {
        var store = new StoreId(_start.Id.Value);
        bool IsOver(RegionKey region) => view.MayForget(region, store) && _term?.Has(region) != true;
        if (!_parts.Store.Log.Regions.Any(known => IsOver(known.Region))) return;
        try
        {
            var dropped = await StoreSweep.DropAsync(_parts.Store.Log, _parts.Store.Files, IsOver);
            SalusHostingLog.Dropped(_logger, dropped);
            _sweepFault = null;
        }
        catch (IOException error)
        {
            // The node serves on: only space is not freed.
            if (_sweepFault != error.Message) SalusHostingLog.NotDropped(_logger, error);
            _sweepFault = error.Message;
        }
    }

    // Free space, and what may go, are looked at now and then.
    private async Task WaitAsync(ChannelReader<bool> changes)
    {
        using var soon = new CancellationTokenSource(s_look, _start.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(soon.Token, _stop.Token);
        try
        {
            await changes.ReadAsync(either.Token);
        }
        catch (OperationCanceledException)
        {
            _stop.Token.ThrowIfCancellationRequested();
        }
    }

    private ValueTask<SalusAgent> StartAgentAsync(SalusLog log) => SalusAgent.StartAsync(log.Runtime, log.Map,
        new AgentParts(_parts.Transport, _start.Time, LoopContext.Pool,
            _start.Loggers.CreateLogger<SalusAgent>()), new SalusAgentOptions(), _stop.Token);

    private long Free() => _parts.Store.Log.Free;

    private Task<CorfuClient> ConnectAsync()
    {
        var options = _start.Tls is { } tls
            ? CorfuClientOptions.Default with { Tls = new TlsOptions { Source = tls.Source } }
            : CorfuClientOptions.Default;
        return CorfuClient.ConnectAsync(
            _start.Connection, options, _start.Loggers.CreateLogger<CorfuClient>(), _stop.Token);
    }
}
