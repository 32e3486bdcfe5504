using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Workload;

/// <summary>Breaks things at random while faults are allowed, and mends what it broke after a while.</summary>
public sealed class Nemesis
{
    private static readonly FaultKind[] s_acts =
    [
        FaultKind.PartitionOneWay, FaultKind.PartitionSymmetric, FaultKind.Clog, FaultKind.BrokenConnection,
        FaultKind.KillUnit,
        FaultKind.PowerCut, FaultKind.KillSequencer, FaultKind.KillClient, FaultKind.Pause, FaultKind.Reconfigure,
        FaultKind.StuckWrites, FaultKind.ReplaceUnit, FaultKind.AddCapacity, FaultKind.LoseDisk,
        FaultKind.Migrate, FaultKind.Reshape, FaultKind.Scrub, FaultKind.FailedFlush,
        FaultKind.FullDisk, FaultKind.DamagedPage, FaultKind.WildPositions,
        FaultKind.Forgery, FaultKind.DeniedWrites,
    ];

    private readonly SimCluster _cluster;
    private readonly SimRandom _random;
    private readonly FaultKind[] _acts;
    private bool _stopped;

    public Nemesis(SimCluster cluster)
    {
        _cluster = cluster;
        _random = cluster.World.Random.Split("nemesis");
        _acts = [.. s_acts.Where(cluster.Plan.Has)];
    }

    public SortedDictionary<string, long> Counts { get; } = new(StringComparer.Ordinal);

    public void Start()
    {
        if (_acts.Length > 0) Next();
    }

    public void Stop() => _stopped = true;

    public void Count(FaultKind kind, long times = 1)
    {
        if (times > 0) Counts[kind.ToString()] = Counts.GetValueOrDefault(kind.ToString()) + times;
    }

    private void Next() => After(_random.Exponential(_cluster.Plan.FaultInterval) + 1, () =>
    {
        Act(_random.Pick(_acts));
        Next();
    });

    private void After(long ticks, Action action) => _cluster.World.Schedule(null, ticks, SimEventKind.Fault, () =>
    {
        if (!_stopped) action();
    });

    private long Duration() => _random.Exponential(_cluster.Plan.FaultInterval) + 5_000;

    private void Act(FaultKind kind)
    {
        _cluster.World.Note("nemesis", kind.ToString());
        switch (kind)
        {
            case FaultKind.PartitionOneWay or FaultKind.PartitionSymmetric or FaultKind.Clog:
                Disturb(kind);
                break;
            case FaultKind.BrokenConnection:
                SimClientNode client = _random.Pick(_cluster.Clients);
                Count(kind, client.Transport?.BreakConnections(_random.Pick(_cluster.Servers)) ?? 0);
                break;
            case FaultKind.KillUnit or FaultKind.PowerCut:
                KillUnit(kind);
                break;
            case FaultKind.KillSequencer:
                if (_cluster.KillSequencer()) Count(kind);
                break;
            case FaultKind.KillClient:
                Count(kind);
                SimClientNode victim = _random.Pick(_cluster.Clients);
                victim.Kill();
                After(Duration(), victim.Start);
                break;
            case FaultKind.Pause:
                if (_random.Pick(_cluster.Processes()) is { } paused)
                {
                    Count(kind);
                    paused.Pause(Duration());
                }

                break;
            case FaultKind.ReplaceUnit:
                if (_cluster.StartReplacement(_random)) Count(kind);
                break;
            case FaultKind.AddCapacity:
                if (_cluster.StartGrowth(_random)) Count(kind);
                break;
            case FaultKind.LoseDisk or FaultKind.Migrate or FaultKind.Reshape or FaultKind.Scrub
                or FaultKind.FailedFlush
                or FaultKind.FullDisk or FaultKind.DamagedPage or FaultKind.WildPositions or FaultKind.Forgery:
                if (ActOnCluster(kind)) Count(kind);
                break;
            case FaultKind.DeniedWrites:
                Count(kind);
                After(Duration(), _cluster.DenyWrites(_random));
                break;
            case FaultKind.StuckWrites:
                long held = Duration();
                Count(kind);
                // Granted positions stay unwritten while epochs change.
                _cluster.Network.Hold(static request => request.Opcode == Opcode.Write, held);
                // While tokens are granted and nothing is written, an epoch ends: what was granted is granted again.
                if (_cluster.Plan.Has(FaultKind.Reconfigure))
                    After(_random.Next(held), () => Act(FaultKind.Reconfigure));
                break;
            case FaultKind.Reconfigure:
                if (_cluster.StartReconfiguration()) Count(kind);
                break;
        }
    }

    private bool ActOnCluster(FaultKind kind) => kind switch
    {
        FaultKind.LoseDisk => _cluster.LoseDisk(_random, Duration()),
        FaultKind.Migrate => _cluster.StartMigration(),
        FaultKind.Reshape => _cluster.StartReshaping(_random),
        FaultKind.Scrub => _cluster.StartScrub(),
        FaultKind.FullDisk => _cluster.FillDisk(_random, Duration()),
        FaultKind.DamagedPage => _cluster.DamagePage(_random),
        FaultKind.WildPositions => _cluster.StartWildRequests(_random),
        FaultKind.Forgery => _cluster.StartForgery(_random),
        _ => _cluster.FailDisk(_random, Duration()),
    };

    private void Disturb(FaultKind kind)
    {
        string a = _random.Pick(_cluster.HostNames);
        string b = _random.Pick(_cluster.HostNames);
        if (a == b) return;
        SimNetwork network = _cluster.Network;
        if (kind == FaultKind.Clog)
        {
            Count(kind);
            network.Clog(a, b, Duration());
            return;
        }

        Count(kind);
        network.Block(a, b);
        if (kind == FaultKind.PartitionSymmetric) network.Block(b, a);
        After(Duration(), () =>
        {
            network.Unblock(a, b);
            if (kind == FaultKind.PartitionSymmetric) network.Unblock(b, a);
        });
    }

    private void KillUnit(FaultKind kind)
    {
        SimUnitNode node = _random.Pick(_cluster.Units);
        if (!node.Running) return;
        Count(kind);
        node.Kill(kind == FaultKind.PowerCut);
        After(Duration(), node.Start);
        // Now and then all machines lose power at once.
        if (kind != FaultKind.PowerCut || !_random.Chance(0.2)) return;
        foreach (SimUnitNode other in _cluster.Units)
        {
            if (!other.Running) continue;
            other.Kill(true);
            After(Duration(), other.Start);
        }
    }
}
