using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

/// <summary>Breaks things at random while faults are allowed, and mends what it broke after a while.</summary>
internal sealed partial class CraqNemesis
{
    private static readonly CraqFault[] s_acts =
    [
        CraqFault.PartitionOneWay, CraqFault.PartitionSymmetric, CraqFault.Clog, CraqFault.BrokenConnection,
        CraqFault.KillNode, CraqFault.PowerCut, CraqFault.KillClient, CraqFault.Pause, CraqFault.LogUnreachable,
        CraqFault.Remove, CraqFault.Reorder, CraqFault.SetOptions, CraqFault.PowerCutOfAll, CraqFault.CutOff,
        CraqFault.FailedFlush, CraqFault.FullDisk, CraqFault.LoseDisk, CraqFault.Drain,
    ];

    private readonly CraqCluster _cluster;
    private readonly SimRandom _random;
    private readonly SimRandom _relaying;
    private readonly CraqFault[] _acts;
    private readonly CraqOperator _operator;

    // Changes by the operator that are under way.
    private int _changing;
    private bool _stopped;

    public CraqNemesis(CraqCluster cluster)
    {
        _cluster = cluster;
        _random = cluster.World.Random.Split("craq nemesis");
        _relaying = cluster.World.Random.Split("relaying nodes that die");
        _acts = [.. s_acts.Where(cluster.Plan.Has)];
        _operator = cluster.Operator;
    }

    public SortedDictionary<string, long> Counts { get; } = new(StringComparer.Ordinal);

    public void Start()
    {
        if (_acts.Length > 0) Next();
        if (_cluster.Plan.Has(CraqFault.KillLearner)) _cluster.Monitor.Learning = KillLearner;
        if (_cluster.Plan.Has(CraqFault.LostRelay)) _cluster.Monitor.Relayed = KillRelaying;
    }

    public void Stop() => _stopped = true;

    public void Count(CraqFault fault, long times = 1)
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

    private void Act(CraqFault fault)
    {
        _cluster.World.Note("nemesis", $"{fault}");
        switch (fault)
        {
            case CraqFault.PartitionOneWay or CraqFault.PartitionSymmetric or CraqFault.Clog:
                Disturb(fault);
                break;
            case CraqFault.BrokenConnection:
                var client = _random.Pick(_cluster.Clients);
                Count(fault, client.Transport?.BreakConnections(_random.Pick(_cluster.Nodes).Host) ?? 0);
                break;
            case CraqFault.KillNode or CraqFault.PowerCut:
                Kill(_random.Pick(_cluster.Nodes), fault);
                break;
            case CraqFault.PowerCutOfAll:
                foreach (var node in _cluster.Nodes) Kill(node, fault);
                break;
            case CraqFault.FailedFlush:
                if (_random.Pick(_cluster.Nodes).FailFlush(Duration())) Count(fault);
                break;
            case CraqFault.FullDisk:
                FillDisk(_random.Pick(_cluster.Nodes));
                break;
            case CraqFault.LoseDisk:
                LoseDisk(_random.Pick(_cluster.Nodes));
                break;
            case CraqFault.Drain:
                Drain(_random.Pick(_cluster.Nodes));
                break;
            case CraqFault.KillClient:
                Count(fault);
                var victim = _random.Pick(_cluster.Clients);
                victim.Kill();
                After(Duration(), victim.Start);
                break;
            case CraqFault.Pause:
                Count(fault);
                _random.Pick(_cluster.Processes()).Pause(Duration());
                break;
            case CraqFault.LogUnreachable:
                Count(fault);
                var machine = _random.Pick(_cluster.Nodes).Name;
                _cluster.Log.Lose(machine);
                After(Duration(), () => _cluster.Log.Restore(machine));
                break;
            default:
                var chain = ChainId.FromName(_random.Pick(_cluster.ChainNames));
                _operator.Do($"{fault}", () => ChangeAsync(fault, chain));
                break;
        }
    }

    private async Task ChangeAsync(CraqFault fault, ChainId chain)
    {
        // Copies of what is on a lost disk stay where they are.
        if (fault == CraqFault.SetOptions && !_lost.IsNone) return;
        _changing++;
        if (await ProposeAsync(fault, chain) is { } config && _random.Chance(0.3)
            && ChangeOf(CraqFault.Remove, config) is { } next)
        {
            // A removal may follow a config that is not open yet (C8).
            await _operator.ChangeAsync(config, next);
        }

        _changing--;
    }

    // The config that was recorded; null: none was.
    private async Task<ChainConfig?> ProposeAsync(CraqFault fault, ChainId chain)
    {
        var view = await _operator.Directory.ReadAsync(default);
        // Nothing would mend what is broken now.
        if (_stopped) return null;
        var config = view.Chains[chain];
        var change = fault == CraqFault.CutOff ? await CutOffAsync(config) : ChangeOf(fault, config);
        if (change is null) return null;
        if (change is ChainChange.Remove removal && config.Options.Reads == EpochProof.Leased)
            await EvictAsync(removal.Nodes[0]);
        var outcome = await _operator.ChangeAsync(config, change);
        if (!outcome.IsRecorded) return null;
        Count(fault);
        return outcome.Config;
    }

    // A member that may have a lease is removed behind its end (C7).
    private async Task EvictAsync(NodeId node)
    {
        if (await _operator.Directory.EvictAsync(node, default) is not null) return;
        for (var looks = 0; looks < 1000 && !_stopped; looks++)
        {
            var view = await _operator.Directory.ReadAsync(default);
            if (view.Nodes[node].State == DirectoryNodeState.Gone) return;
            await Task.Delay(TimeSpan.FromMilliseconds(1), _operator.Time);
        }
    }

    private ChainChange? ChangeOf(CraqFault fault, ChainConfig config)
    {
        switch (fault)
        {
            case CraqFault.Remove:
                if (config.Members.Length <= Math.Max(2, config.Minimum)) return null;
                return new ChainChange.Remove([_random.Pick(config.Members).Node]);
            case CraqFault.Reorder:
                NodeId[] nodes = [.. config.Members.Select(member => member.Node)];
                _random.Shuffle(nodes);
                return new ChainChange.Reorder([.. nodes]);
            default:
                var protocol = _random.Chance(0.5) ? ChainProtocol.Cr : ChainProtocol.Craq;
                var least = _random.Pick([0, 1, config.Placement.Size]);
                // Seeds without the relay have no such choice.
                var values = _cluster.Plan.IsRelaying && _random.Chance(0.7) ? ValuePath.Relay : ValuePath.Chain;
                return new ChainChange.SetOptions(config.Placement with { MinMembers = least },
                    config.Options with { Protocol = protocol, Values = values });
        }
    }

    private void Disturb(CraqFault fault)
    {
        var a = _random.Pick(_cluster.HostNames);
        var b = _random.Pick(_cluster.HostNames);
        if (a == b) return;
        Count(fault);
        var network = _cluster.Network;
        if (fault == CraqFault.Clog)
        {
            network.Clog(a, b, Duration());
            return;
        }

        network.Block(a, b);
        if (fault == CraqFault.PartitionSymmetric) network.Block(b, a);
        After(Duration(), () =>
        {
            network.Unblock(a, b);
            if (fault == CraqFault.PartitionSymmetric) network.Unblock(b, a);
        });
    }

    private async Task<ChainChange?> CutOffAsync(ChainConfig config)
    {
        if (config.Members.Length <= Math.Max(2, config.Minimum)) return null;
        var lost = _random.Chance(0.7) ? config.Tail.Node : _random.Pick(config.Members).Node;
        // The disk is gone, and the machine has another identity.
        if (_cluster.Nodes.Find(node => node.Id == lost) is not { } machine) return null;
        var client = _random.Pick(_cluster.Clients);
        client.Near = machine;
        // A head takes the client's writes, which it passes on to none.
        client.OnlyReads = config.Head.Node != lost;
        if (_random.Chance(0.5))
        {
            // Answers to its last questions come when it is cut off and others go on (C6, C17).
            var limit = _cluster.Plan.RequestTimeout;
            foreach (var other in _cluster.Nodes.Where(other => other != machine))
                _cluster.Network.Clog(other.Name, machine.Name, limit * 9 / 10);
            await Task.Delay(TimeSpan.FromTicks(limit / 10), _operator.Time);
            if (_stopped) return null;
        }

        CutOff(machine.Name, client);
        return new ChainChange.Remove([lost]);
    }

    // Long enough for the others to open an epoch and to write.
    private void CutOff(string node, SimCraqClient client)
    {
        string[] others = [.. _cluster.HostNames.Where(name => name != node && name != client.Name)];
        var network = _cluster.Network;
        foreach (var other in others) Each(network.Block, other);
        _cluster.Log.Lose(node);
        After(Duration() + (10 * _cluster.Plan.LogLatency) + 500_000, () =>
        {
            foreach (var other in others) Each(network.Unblock, other);
            _cluster.Log.Restore(node);
            // The node has played nothing of what has become of it yet (C7).
            After(_cluster.Plan.Follow, client.Free);
        });

        void Each(Action<string, string> act, string other)
        {
            act(node, other);
            act(other, node);
            act(client.Name, other);
            act(other, client.Name);
        }
    }

    private void FillDisk(SimCraqNode node)
    {
        var held = Duration();
        if (!node.FillDisk(_random, held)) return;
        Count(CraqFault.FullDisk);
        _cluster.World.Schedule(null, held, SimEventKind.Fault, node.Disk.FreeSpace);
    }

    private void Kill(SimCraqNode node, CraqFault fault)
    {
        if (!node.Running) return;
        Count(fault);
        node.Kill(fault is CraqFault.PowerCut or CraqFault.PowerCutOfAll);
        After(Duration(), node.Start);
    }

    // A head that dies before a relayed value is durable there, and is back in the same epoch, gives its version to
    // another write (C16).
    private void KillRelaying(string machine)
    {
        if (_stopped || !_relaying.Chance(0.1)) return;
        After(1, () =>
        {
            var node = _cluster.Nodes.Find(node => node.Name == machine)!;
            if (!node.Running) return;
            Count(CraqFault.LostRelay);
            node.Kill(powerCut: false);
            After(_relaying.Exponential(5_000) + 1, node.Start);
        });
    }

    private void KillLearner(string machine)
    {
        if (!_random.Chance(0.5)) return;
        After(_random.Exponential(_random.Pick([10_000L, 100_000, 500_000])) + 1,
            () => Kill(_cluster.Nodes.Find(node => node.Name == machine)!, CraqFault.KillLearner));
    }
}
