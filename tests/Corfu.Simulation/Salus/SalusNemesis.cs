using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Salus;

/// <summary>Breaks things at random while faults are allowed, and mends what it broke after a while. Faults that last
/// stay with few machines.</summary>
internal sealed partial class SalusNemesis
{
    private static readonly SalusFault[] s_acts =
    [
        SalusFault.PartitionOneWay, SalusFault.PartitionSymmetric, SalusFault.Clog, SalusFault.BrokenConnection,
        SalusFault.KillNode, SalusFault.PowerCut, SalusFault.Pause, SalusFault.LogUnreachable,
        SalusFault.PowerCutOfAll, SalusFault.KillWriter, SalusFault.StopWriter, SalusFault.FailedSync,
        SalusFault.FullDisk, SalusFault.LoseTail, SalusFault.LoseTailAlive, .. SalusPlan.Lasting,
    ];

    private readonly SalusCluster _cluster;
    private readonly SalusHistory _history;
    private readonly SimRandom _random;
    private readonly SalusFault[] _acts;
    private bool _stopped;

    public SalusNemesis(SalusCluster cluster, SalusHistory history)
    {
        (_cluster, _history) = (cluster, history);
        _random = cluster.World.Random.Split("salus nemesis");
        _acts = [.. s_acts.Where(cluster.Plan.Has)];
    }

    public SortedDictionary<string, long> Counts { get; } = new(StringComparer.Ordinal);

    public void Start()
    {
        if (_acts.Length > 0) Next();
    }

    public void Stop() => _stopped = true;

    public void Count(SalusFault fault, long times = 1)
    {
        if (times > 0) Counts[$"{fault}"] = Counts.GetValueOrDefault($"{fault}") + times;
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

    private void Act(SalusFault fault)
    {
        _cluster.World.Note("nemesis", $"{fault}");
        switch (fault)
        {
            case SalusFault.PartitionOneWay or SalusFault.PartitionSymmetric or SalusFault.Clog:
                Disturb(fault);
                break;
            case SalusFault.BrokenConnection:
                var writer = _random.Pick(_cluster.Writers);
                Count(fault, writer.Transport?.BreakConnections(_random.Pick(_cluster.Machines).Host) ?? 0);
                break;
            case SalusFault.KillNode or SalusFault.PowerCut:
                Kill(_random.Pick(_cluster.Machines), fault);
                break;
            case SalusFault.PowerCutOfAll:
                foreach (var machine in _cluster.Machines) Kill(machine, fault);
                break;
            case SalusFault.KillWriter:
                KillWriter(_random.Pick(_cluster.Writers));
                break;
            case SalusFault.StopWriter:
                StopWriter();
                break;
            case SalusFault.Pause:
                Count(fault);
                _random.Pick(_cluster.Processes()).Pause(Duration());
                break;
            case SalusFault.LogUnreachable:
                Count(fault);
                var lost = _random.Pick(_cluster.HostNames);
                _cluster.Log.Lose(lost);
                After(Duration(), () => _cluster.Log.Restore(lost));
                break;
            case SalusFault.FailedSync:
                if (_random.Pick(_cluster.Machines).FailFlush(Duration())) Count(fault);
                break;
            case SalusFault.FullDisk:
                FillDisk(_random.Pick(_cluster.Machines));
                break;
            case SalusFault.LoseTail or SalusFault.LoseTailAlive:
                LoseTail(fault);
                break;
            default:
                Harm(fault);
                break;
        }
    }

    private void Disturb(SalusFault fault)
    {
        var a = _random.Pick(_cluster.HostNames);
        var b = _random.Pick(_cluster.HostNames);
        if (a == b) return;
        Count(fault);
        var network = _cluster.Network;
        if (fault == SalusFault.Clog)
        {
            network.Clog(a, b, Duration());
            return;
        }

        network.Block(a, b);
        if (fault == SalusFault.PartitionSymmetric) network.Block(b, a);
        After(Duration(), () =>
        {
            network.Unblock(a, b);
            if (fault == SalusFault.PartitionSymmetric) network.Unblock(b, a);
        });
    }

    private void KillWriter(SimVolumeWriter writer)
    {
        if (!writer.Running) return;
        if (_cluster.Plan.Has(SalusFault.KillWriter)) Count(SalusFault.KillWriter);
        writer.Kill();
        After(Duration(), writer.Start);
    }

    // Longer than the lease: another one mounts the volume, and the first goes on where it was.
    private void StopWriter()
    {
        SimVolumeWriter[] mounted = [.. _cluster.Writers.Where(writer => writer.IsMounted)];
        if (mounted.Length == 0) return;
        Count(SalusFault.StopWriter);
        _random.Pick(mounted).Process!.Pause(_cluster.ClientOptions.Lease.Ticks + Duration());
    }

    private void FillDisk(SimSalusMachine machine)
    {
        if (!machine.Disk.TakeSpace(_random.Next(1 << 20))) return;
        Count(SalusFault.FullDisk);
        machine.AwayAfterFailure = Duration();
        _cluster.World.Schedule(null, Duration(), SimEventKind.Fault, machine.Disk.FreeSpace);
    }

    private void Kill(SimSalusMachine machine, SalusFault fault)
    {
        if (!machine.Running) return;
        Count(fault);
        machine.Kill(fault is SalusFault.PowerCut or SalusFault.PowerCutOfAll);
        After(Duration(), machine.Start);
    }
}
