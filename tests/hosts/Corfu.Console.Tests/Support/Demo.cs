using System.Globalization;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;
using Tango;
using Tango.Collections;

namespace Corfu.WebConsole.Tests.Support;

/// <summary>A small shop on an embedded cluster: what its pages show is what a service leaves in a log. Two runtimes
/// stand for two processes of it.</summary>
internal sealed class Demo : IAsyncDisposable
{
    /// <summary>A name that would be markup, another direction of writing and a line of its own, were it not
    /// shown as text.</summary>
    public const string HostileName = "<img src=x onerror=alert(1)>\u202e\"'&</live-region>";

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(80);

    private readonly CancellationTokenSource _stop = new();
    private readonly CorfuClient _firstLog;
    private readonly CorfuClient _secondLog;
    private readonly TangoRuntime _first;
    private readonly TangoRuntime _second;
    private Task _traffic = Task.CompletedTask;
    private HeldLock? _leader;

    private Demo(EmbeddedCluster cluster, CorfuClient firstLog, CorfuClient secondLog)
    {
        Cluster = cluster;
        (_firstLog, _secondLog) = (firstLog, secondLog);
        // The transaction that is to lose must not hear of the winner before its record is sent.
        _first = new TangoRuntime(firstLog, new TangoOptions { IdlePlayback = null });
        _second = new TangoRuntime(secondLog);
    }

    public EmbeddedCluster Cluster { get; }

    public CorfuClient Log => _firstLog;

    public static async Task<Demo> StartAsync()
    {
        var cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions
        {
            Units = 3,
            Spares = 1,
            Sequencers = 2,
        });
        var demo = new Demo(cluster, await cluster.ConnectAsync(), await cluster.ConnectAsync());
        await demo.FillAsync();
        return demo;
    }

    /// <summary>An operator takes a unit out, and agents replace a sequencer whose process has ended.</summary>
    public async Task ReconfigureAsync()
    {
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = Log.Projection.Cluster });
        var session = new OperatorSession(
            Log.Cluster, transport, TimeProvider.System, [], "corfu reconfigure");
        var spare = await session.FindAsync(EndpointOf("spare-0"), NodeRole.Unit, CancellationToken.None);
        var leaving = session.UnitOf(EndpointOf("unit-2").ToString());
        await session.LeaveAsync(
            leaving, [spare], session.NewRebuilder(), () => Task.CompletedTask, CancellationToken.None);
        await Cluster.StopNodeAsync("sequencer");
        while (Log.Projection.Sequencer.Endpoint == EndpointOf("sequencer"))
        {
            await Task.Delay(100);
            await Log.Cluster.RefreshAsync();
        }

        await Cluster.StartNodeAsync("sequencer");
    }

    public NodeEndpoint EndpointOf(string node) => Cluster.Manifest.Nodes.First(known => known.Name == node).Endpoint;

    /// <summary>Appends go on until the demo ends.</summary>
    public void StartTraffic() => _traffic = TrafficAsync();

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _traffic;
        if (_leader is not null) await _leader.LetGoAsync();
        await _first.DisposeAsync();
        await _second.DisposeAsync();
        await _firstLog.DisposeAsync();
        await _secondLog.DisposeAsync();
        await Cluster.DisposeAsync();
        _stop.Dispose();
    }

    private async Task FillAsync()
    {
        var orders = await _first.OpenAsync<TangoDictionary<string, string>>("orders/open", OpenMode.Create);
        var stock = await _first.OpenAsync<TangoSortedDictionary<string, int>>("stock", OpenMode.Create);
        var shipping = await _first.OpenAsync<TangoWorkQueue<string>>("shipping/jobs", OpenMode.Create);
        var leader = await _first.OpenAsync<TangoLock>("scheduler/leader", OpenMode.Create);
        var flags = await _first.OpenAsync<TangoRegister<string>>("config/flags", OpenMode.Create);
        var sessions = await _first.OpenAsync<TangoCounter>("metrics/sessions", OpenMode.Create);
        var hostile = await _first.OpenAsync<TangoDictionary<string, string>>(HostileName, OpenMode.Create);
        string[] goods = ["anchor", "compass", "hawser", "lantern", "oar", "rudder", "sail", "sextant"];
        foreach (var (item, count) in goods.Select((item, i) => (item, 20 + 7 * i))) await stock.SetAsync(item, count);
        for (var i = 0; i < 24; i++)
        {
            var number = (7760 + i).ToString(CultureInfo.InvariantCulture);
            await orders.SetAsync(number, $$"""{"item":"{{goods[i % 8]}}","count":{{1 + i % 3}},"state":"new"}""");
        }

        for (var i = 0; i < 6; i++) await shipping.EnqueueAsync($"label order {7760 + i}");
        await flags.WriteAsync("""{"checkout":"v2","carrier":"ionian"}""");
        await sessions.AddAsync(118);
        await hostile.SetAsync("<b>key</b>", "</td></tr><script>alert(1)</script>");
        _leader = await leader.AcquireAsync(TimeSpan.FromSeconds(30), "shop-1");
        await _first.Checkpoints.WriteAsync("orders/open");
        await TransactAsync(orders, stock);
        await _firstLog.AppendAsync(
            "order 7761 paid"u8.ToArray(), [StreamId.FromName("audit")]);
    }

    // Transactions that commit, and one that loses the order to the other process.
    private async Task TransactAsync(
        TangoDictionary<string, string> orders, TangoSortedDictionary<string, int> stock)
    {
        var theirs = await _second.OpenAsync<TangoDictionary<string, string>>("orders/open");
        var theirStock = await _second.OpenAsync<TangoSortedDictionary<string, int>>("stock");
        for (var i = 0; i < 6; i++)
        {
            var number = (7760 + i).ToString(CultureInfo.InvariantCulture);
            await _first.RunTransactionAsync(async _ =>
            {
                var order = await orders.TryGetAsync(number);
                var left = await stock.TryGetAsync("oar");
                await stock.SetAsync("oar", left.Value - 1);
                await orders.SetAsync(number, order.Value!.Replace("new", "paid", StringComparison.Ordinal));
            });
        }

        await _second.SyncAsync();
        var loser = _first.BeginTx(new TransactionOptions { Explicit = true });
        var mine = loser.Use(orders);
        await mine.TryGetAsync("7781");
        await mine.SetAsync("7781", """{"item":"rudder","count":1,"state":"cancelled"}""");
        await _second.RunTransactionAsync(async _ =>
        {
            await theirs.TryGetAsync("7781");
            await theirs.SetAsync("7781", """{"item":"rudder","count":1,"state":"paid"}""");
            await theirStock.SetAsync("rudder", 54);
        });
        await loser.EndTxAsync();
    }

    private async Task TrafficAsync()
    {
        var random = new Random(7);
        var sessions = await _second.OpenAsync<TangoCounter>("metrics/sessions");
        var audit = StreamId.FromName("audit");
        for (var i = 0; !_stop.IsCancellationRequested; i++)
        {
            try
            {
                var burst = 1 + random.Next(3) + (i % 40 < 6 ? 5 : 0);
                for (var n = 0; n < burst; n++)
                    await _firstLog.AppendAsync("order viewed"u8.ToArray(), [audit], _stop.Token);
                if (i % 10 == 0) await sessions.AddAsync(random.Next(-2, 4), _stop.Token);
                await Task.Delay(s_pause, _stop.Token);
            }
            catch (Exception e) when (e is OperationCanceledException or CorfuException)
            {
                // The demo ends, within a write as well: then the outcome is not known. Or the machine is too busy.
            }
        }
    }
}
