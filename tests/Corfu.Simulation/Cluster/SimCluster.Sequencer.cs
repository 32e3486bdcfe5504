using Corfu.Protocol;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Cluster;

public sealed partial class SimCluster
{
    private readonly List<SimSequencerNode> _sequencers = [];
    private int _reconfigurations;
    private int _operators;

    /// <summary>Text for people of what <see cref="Idle"/> waits for.</summary>
    public string Unrest =>
        $"{_reconfigurations} sequencers asked for, {_changes} operators at work, "
        + $"{(HasAgents && !IsWhole ? "not whole" : "whole")}";

    /// <summary>No reconfiguration is under way.</summary>
    public bool Idle =>
        _reconfigurations == 0 && _changes == 0 && (HasAgents ? IsWhole : CurrentSequencer() is not null);

    /// <summary>The machine whose running incarnation the newest installed projection names.</summary>
    private SimSequencerNode? CurrentSequencer()
    {
        NodeId named = Monitor.HighestEpoch == 0 ? _sequencers[0].Address.Id : Monitor.Newest.Sequencer.Id;
        return _sequencers.Find(s => s.Running && s.Address.Id == named);
    }

    /// <summary>Kills the sequencer in force; a new incarnation follows after a while, by reconfiguration.</summary>
    public bool KillSequencer()
    {
        if (CurrentSequencer() is not { } current) return false;
        current.Kill();
        if (HasAgents)
        {
            World.Schedule(null, World.Random.Split($"restart {World.Steps}").Exponential(Plan.FaultInterval),
                SimEventKind.Fault, () => StartIfDown(current));
            return true;
        }

        World.Schedule(null, World.Random.Split($"replace {World.Steps}").Exponential(200_000), SimEventKind.Fault,
            EnsureSequencer);
        return true;
    }

    /// <summary>Replaces the sequencer by a new incarnation on another machine, while the old one goes on and knows
    /// nothing.</summary>
    public bool StartReconfiguration()
    {
        SimSequencerNode? current = CurrentSequencer();
        SimSequencerNode other = _sequencers.First(s => s != current);
        Replace(other.Start());
        return true;
    }

    /// <summary>Comes back as another incarnation, which no projection names: a standby.</summary>
    private static void StartIfDown(SimSequencerNode node)
    {
        if (!node.Running) node.Start();
    }

    private void EnsureSequencer()
    {
        if (HasAgents) return;
        if (CurrentSequencer() is null && _reconfigurations == 0) StartReconfiguration();
    }

    /// <summary>An operator asks for the new sequencer until some epoch names it, or until it is dead itself.</summary>
    private void Replace(NodeAddress sequencer)
    {
        _reconfigurations++;
        string name = $"operator{_operators++}";
        _hostNames.Add(name);
        var node = new SimClientNode(this, -1, name, async n =>
        {
            while (_sequencers.Exists(s => s.Running && s.Address == sequencer)
                && Monitor.Newest.Sequencer != sequencer)
            {
                if (await TryReplaceAsync(n, sequencer)) break;
                await Task.Delay(TimeSpan.FromMilliseconds(5), n.Process!.Time);
            }

            _reconfigurations--;
            EnsureSequencer();
        });
        node.Start();
    }
}
