using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Cluster;

/// <summary>Operators who replace units, add capacity and rebuild what joins, while everything goes on.</summary>
public sealed partial class SimCluster
{
    // An operator who is refused so often has asked for something impossible, as where a chain's last replica would go.
    private const int MostAttempts = 5;

    private int _changes;

    /// <summary>Puts a spare in the place of a unit that may be dead or well, and rebuilds it. The unit goes on and
    /// knows nothing.</summary>
    public bool StartReplacement(SimRandom random)
    {
        Projection newest = Monitor.Newest;
        if (newest.Units.Length == 0 || _changes > 1) return false;
        NodeAddress unit = random.Pick(newest.Units);
        // Offered too: units that were removed once. A search for a spare must pass them over (R2).
        ImmutableArray<NodeAddress> offered = [.. Units.Where(u => !newest.HasUnit(u.UnitId)).Select(u => u.Address)];
        if (offered.IsEmpty) return false;
        RunChange(async node =>
        {
            var client = (CorfuClient)node.Log!;
            var operations = new ClusterOperations(client.Cluster, node.Transport!, node.Process!.Time);
            bool replaced = await TryAsync(() => operations.ReplaceUnitAsync(unit.Id, offered, "simulated replacement"),
                node);
            if (replaced) Monitor.Mark("unit replaced");
            await RebuildAsync(node);
        });
        return true;
    }

    /// <summary>From the next start on the log stands on other chains, of units that may be new (TOCS 2.5, Fig. 5
    /// D).</summary>
    public bool StartGrowth(SimRandom random)
    {
        if (_changes > 1) return false;
        int shift = random.Between(1, 3);
        bool grows = random.Chance(0.5);
        RunChange(async node =>
        {
            var client = (CorfuClient)node.Log!;
            var operations = new ClusterOperations(client.Cluster, node.Transport!, node.Process!.Time);
            ImmutableArray<NodeAddress> spares = grows
                ? await operations.FindSparesAsync(
                    [.. Units.Where(u => !client.Projection.HasUnit(u.UnitId)).Select(u => u.Address)])
                : [];
            bool done = false;
            if (await TryAsync(
                () => client.Cluster.ReconfigureAsync(p => done ? null : NextChains(p, spares, shift, ref done),
                    "simulated growth"), node)) Monitor.Mark("capacity changed");
        });
        return true;
    }

    /// <summary>Another operator finishes a rebuild that was left behind.</summary>
    private void EnsureRebuilt()
    {
        if (!HasAgents && _changes == 0 && Rebuilder.IsNeeded(Monitor.Newest)) RunChange(RebuildAsync);
    }

    private Membership? NextChains(Projection projection, ImmutableArray<NodeAddress> spares, int shift, ref bool done)
    {
        Segment active = projection.Segments[^1];
        NodeAddress[] fresh = [.. spares.Where(s => !projection.HasUnit(s.Id)).Take(1)];
        // No operator builds new chains of units whose disks are lost: those could never be sealed again (R14; seed
        // 178).
        IEnumerable<NodeId> present = active.Chains.SelectMany(c => c.Replicas).Select(r => r.Unit).Distinct()
            .Where(id => Units.Exists(u => u.UnitId == id));
        NodeId[] units = [.. present.Order().Concat(fresh.Select(f => f.Id))];
        if (units.Length == 0) return null;
        int replicas = Math.Min(Plan.Replicas, units.Length);
        ImmutableArray<Chain> chains =
        [
            .. Enumerable.Range(0, units.Length).Select(
                i =>
                    new Chain(
                        [.. Enumerable.Range(0, replicas)
                            .Select(r => new Replica(units[(i + shift + r) % units.Length]))])),
        ];
        if (chains.AsSpan().SequenceEqual(active.Chains.AsSpan())) return null;
        done = true;
        return Membership.Of(projection).WithNextChains(chains, fresh);
    }

    private async Task RebuildAsync(SimClientNode node)
    {
        var client = (CorfuClient)node.Log!;
        var rebuilder = new Rebuilder(client.Cluster, node.Transport!, node.Process!.Time);
        while (true)
        {
            try
            {
                await rebuilder.RunAsync();
                return;
            }
            catch (Exception e) when (e is CorfuException and not RebuildException)
            {
                // Every acceptor that this operator knows may have been replaced meanwhile: it finds none any more,
                // and the agents have done the work.
                if (HasAgents && IsWhole) return;

                // Layout or units cannot be reached for now: the next run goes on from there.
                await Task.Delay(TimeSpan.FromMilliseconds(20), node.Process!.Time);
            }
        }
    }

    private async Task<bool> TryAsync(Func<Task<Projection>> change, SimClientNode node)
    {
        for (int attempt = 0; attempt < MostAttempts; attempt++)
        {
            try
            {
                await change();
                return true;
            }
            catch (CorfuException e)
            {
                World.Explain($"{node.Name}: {e.Message}");
                Monitor.Mark("reconfiguration failed");
                await Task.Delay(TimeSpan.FromMilliseconds(20), node.Process!.Time);
            }
        }

        return false;
    }

    private void RunChange(Func<SimClientNode, Task> work, AccessRole rights = AccessRole.Admin)
    {
        _changes++;
        string name = $"operator{_operators++}";
        _hostNames.Add(name);
        new SimClientNode(this, -1, name, async node =>
        {
            await work(node);
            _changes--;
        })
        {
            Rights = rights,
        }.Start();
    }
}
