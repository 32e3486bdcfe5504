using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

/// <summary>A machine for sequencers. Each start is another incarnation with another identity (R2, R7).</summary>
public sealed class SimSequencerNode(SimCluster cluster, string name, NodeEndpoint endpoint)
{
    // A run grants a few thousand positions: a real sequencer's memory for each of many incarnations would only keep
    // the collector busy.
    private static readonly SequencerOptions s_options = new()
    {
        RememberedGrants = 1 << 12,
        RememberedWords = 1 << 15
    };

    public SimHost Host { get; } = cluster.AddHost(name, endpoint);

    public SimProcess? Process { get; private set; }

    public bool Running => Process is { Alive: true };

    /// <summary>The incarnation that was started last.</summary>
    public NodeAddress Address { get; private set; }

    public NodeAddress Start()
    {
        Kill();
        SimRandom random = cluster.World.Random.Split($"decisions of {name} {cluster.World.Steps}");
        var options = s_options with
        {
            MaxCells = cluster.Plan.MaxCells,
            Decide = !random.Chance(cluster.Plan.ShareWithoutRulings),
        };
        var handler = new SequencerHandler(cluster.Entropy, options);
        Address = new NodeAddress(handler.Id, endpoint);
        Process = cluster.NewProcess(name);
        Host.Listen(Process, [handler], SimKeeper.Start(cluster, Process, Host).Gate);
        return Address;
    }

    public void Kill() => Process?.Kill();
}
