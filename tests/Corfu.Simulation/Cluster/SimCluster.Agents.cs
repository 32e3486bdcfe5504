using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

/// <summary>Cluster agents that decide on their own which node leaves and which takes over, and machines that lose
/// their disks.</summary>
public sealed partial class SimCluster
{
    // The machine that the first agent's does not reach for as long as its unit is joining.
    private SimUnitNode? _cutOff;

    public bool HasAgents => Plan.Agents is not null;

    /// <summary>The agent of one machine's process, as its node runs it.</summary>
    internal ClusterAgent StartAgent(SimProcess process, SimHost host)
    {
        AgentOptions options = Plan.Agents!.OptionsOf(host.Endpoint,
            _servers.Where(s => s != host).Select(s => s.Endpoint));
        var entropy = new SimEntropy(World.Random.Split($"agent {host.Name} {process.Id}"));
        // As NodeAgent does: looks are given up soon, everything else has a connection's usual patience.
        var probes = new SimTransport(World, Network, Internet, process, host.Name, options.ProbeTimeout.Ticks);
        var transport = new SimTransport(World, Network, Internet, process, host.Name,
            Math.Max(Plan.RequestTimeout, options.ProbeTimeout.Ticks));
        var reconfigurer = new ReconfigurerOptions();
        var agent = new ClusterAgent(options, probes, transport, process.Time, entropy, new SimLogger(World, host.Name),
            reconfigurer with
            {
                RoundTimeout = Plan.Agents.At(reconfigurer.RoundTimeout),
                InstallTimeout = Plan.Agents.At(reconfigurer.InstallTimeout),
            },
            process.Loops);
        process.Start("agent", () => agent.RunAsync(CancellationToken.None));
        return agent;
    }

    /// <summary>A newer projection is decided: the first agent's machine does not reach one unit that is joining, one
    /// way.</summary>
    private void CutOffRebuilder(Projection newest)
    {
        string first = Units[0].Host.Name;
        bool Joins(SimUnitNode node) =>
            newest.Segments.Any(s => s.Chains.Any(c => c.Replicas.Any(r => r.Joining && r.Unit == node.UnitId)));
        if (_cutOff is { } before && !Joins(before))
        {
            Network.Unblock(first, before.Host.Name);
            Monitor.Mark("rebuilt while the first agent was cut off");
            _cutOff = null;
        }

        if (_cutOff is not null || Units.Skip(1).FirstOrDefault(Joins) is not { } joining) return;
        _cutOff = joining;
        Network.Block(first, joining.Host.Name);
    }

    /// <summary>
    /// A machine loses its disk, and comes back with an empty one, freshly formatted: another unit, another acceptor.
    /// Only where the cluster can bear it: all pages of the machine are held elsewhere, and no change of the
    /// projection is under way.
    /// </summary>
    public bool LoseDisk(SimRandom random, long away)
    {
        SimUnitNode node = random.Pick(Units);
        if (!CanLose(node)) return false;
        if (Monitor.Newest.HasUnit(node.UnitId)) Monitor.Mark("disk of a serving unit lost");
        node.LoseDisk(new NodeId(Entropy.NewGuid()),
            node.AcceptorId.IsNone ? NodeId.None : new NodeId(Entropy.NewGuid()));
        World.Schedule(null, away, SimEventKind.Fault, node.Start);
        return true;
    }

    /// <summary>Everything that the newest projection names is there, and nothing is left to be done.</summary>
    public bool IsWhole
    {
        get
        {
            Projection newest = Monitor.Newest;
            return !Rebuilder.IsNeeded(newest) && newest.Units.All(u => IsServed(u.Id))
                && newest.Acceptors.All(a => IsServed(a.Id)) && CurrentSequencer() is not null;
        }
    }

    internal bool RunsAgent(SimUnitNode node) => Plan.Agents is { } agents && Units.IndexOf(node) < agents.Count;

    private bool IsServed(NodeId id) => Units.Exists(u => u.Running && u.Host.Serves(id));

    private bool CanLose(SimUnitNode node)
    {
        Projection newest = Monitor.Newest;
        // R12: until the newest acceptors have the decided state, a majority of those before them is needed as well.
        if (!newest.Acceptors.All(a => a.Id == node.AcceptorId || Monitor.HoldsNewest(a.Id))) return false;
        if (Monitor.MayBeNamed(node.AcceptorId)) return false;
        // A reconfiguration that has its seals may drop the very replicas that are counted on here.
        if (Monitor.HighestSealAsked > newest.Epoch.Value) return false;
        bool Kept(NodeId id) =>
            id != node.UnitId && id != node.AcceptorId && Units.Exists(u => u.UnitId == id || u.AcceptorId == id);
        bool replaced = newest.Segments.SelectMany(s => s.Chains)
            .All(c => c.Replicas.Any(r => !r.Joining && Kept(r.Unit)));
        bool acceptor = newest.Acceptors.Any(a => a.Id == node.AcceptorId);
        return replaced
            && (!acceptor
                || (newest.Acceptors.Length >= 3 && newest.Acceptors.All(a => a.Id == node.AcceptorId || Kept(a.Id))));
    }
}
