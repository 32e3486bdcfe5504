using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Detection;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

/// <summary>The parts of an agent that clients depend on, for a process whose plan gives it no agent: reads decided
/// projections for the gate, and renews an epoch that its unit refuses as sealed.</summary>
internal sealed class SimKeeper
{
    private static readonly TimeSpan s_step = TimeSpan.FromMilliseconds(50);

    private readonly SimCluster _cluster;
    private readonly ClusterView _view;
    private readonly Renewal _renewal;
    private readonly AgentLoop _loop;
    private readonly Func<Projection, Epoch> _sealedTo;
    private readonly NodeEndpoint _at;
    private readonly int _rank;

    private SimKeeper(SimCluster cluster, SimProcess process, SimHost host, Func<Projection, Epoch> sealedTo)
    {
        _cluster = cluster;
        _sealedTo = sealedTo;
        _at = host.Endpoint;
        _rank = cluster.Units.FindIndex(unit => unit.Host == host) is >= 0 and var index ? index : cluster.Units.Count;
        var entropy = new SimEntropy(cluster.World.Random.Split($"keeper {host.Name} {process.Id}"));
        var transport = new SimTransport(cluster.World, cluster.Network, cluster.Internet, process, host.Name,
            cluster.Plan.RequestTimeout);
        var logger = new SimLogger(cluster.World, host.Name);
        var clock = new AgentClock(process.Time);
        var layout = new LayoutClient(transport, entropy, process.Time);
        _loop = new AgentLoop(clock, logger, process.Loops);

        // Reads come when they are asked for: a seed has enough messages.
        var options = new AgentOptions { Self = host.Endpoint, RefreshInterval = TimeSpan.FromHours(1) };
        _view = new ClusterView(options, layout, clock, logger);
        var reconfigurer = new Reconfigurer(transport, layout, process.Time, logger);
        _renewal = new Renewal(_view, Acceptors, reconfigurer, options.SuccessorTimeout, clock, logger);
        Gate = new ProjectionGate(() => _view.Projection, _ => ReadSoon());
    }

    public IRequestGate Gate { get; }

    /// <param name="sealedTo">The epoch below which the process's unit refuses all others, if the projection names it.
    /// Default: the process has no unit.</param>
    public static SimKeeper Start(
        SimCluster cluster, SimProcess process, SimHost host, Func<Projection, Epoch>? sealedTo = null)
    {
        var keeper = new SimKeeper(cluster, process, host, sealedTo ?? (static _ => Epoch.None));
        process.Start("keeper", () => keeper._loop.RunAsync(keeper.Step, s_step, CancellationToken.None));
        return keeper;
    }

    private TimeSpan Step()
    {
        if (_view.Projection is { } newest) _renewal.Saw(_sealedTo(newest), _at);
        if (_view.IsRefreshDue) _loop.Start(() => _view.RefreshAsync(Acceptors(), CancellationToken.None));
        _renewal.Step(_rank, 0, CancellationToken.None);
        return s_step;
    }

    private ImmutableArray<NodeAddress> Acceptors() =>
    [
        .. from unit in _cluster.Units where !unit.AcceptorId.IsNone
           select new NodeAddress(unit.AcceptorId, unit.Host.Endpoint),
    ];

    private void ReadSoon()
    {
        _view.ReadSoon();
        _loop.StepWithin(TimeSpan.Zero);
    }
}
