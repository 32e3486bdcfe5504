using System.Collections.Immutable;
using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Register;
using Corfu.Simulation.Disk;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Transport;

namespace Corfu.Simulation.Cluster;

public sealed partial class SimCluster
{
    private const int Port = 7000;
    private readonly HashSet<NodeId> _formatted = [];

    /// <summary>Starts all servers and decides the first projection, before any fault.</summary>
    public void Boot()
    {
        for (int i = 0; i < Plan.Units + Plan.Spares; i++)
        {
            string name = $"unit{i}";
            // Agents find others to take an acceptor's place.
            NodeId acceptor = i < Plan.Acceptors || HasAgents ? new NodeId(Entropy.NewGuid()) : NodeId.None;
            var node = new SimUnitNode(this, name, new NodeEndpoint(name, Port), new NodeId(Entropy.NewGuid()),
                acceptor);
            Units.Add(node);
            Monitor.AddUnit(node.UnitId, name);
            node.Start();
        }

        for (int i = 0; i < 2; i++)
            _sequencers.Add(new SimSequencerNode(this, $"sequencer{i}", new NodeEndpoint($"sequencer{i}", Port)));
        Projection first = FirstProjection(_sequencers[0].Start());
        if (HasAgents) _sequencers[1].Start();
        Monitor.Found(first);
        RunOrThrow("units did not start", () => Units.TrueForAll(u => u.Host.Process is not null));
        bool decided = false;
        SimProcess founder = NewProcess("founder");
        founder.Start("decide the first projection", async () =>
        {
            var transport = new SimTransport(World, Network, Internet, founder, "founder",
                10 * TimeSpan.TicksPerSecond);
            foreach (NodeAddress acceptor in first.Acceptors) await DecideAsync(transport, acceptor, first);
            decided = true;
        });
        RunOrThrow("the first projection was not decided", () => decided);
        founder.Kill();
        Network.Options = Plan.Network;
    }

    /// <summary>Opens a machine's acceptor; it is formatted the first time and never again (R12).</summary>
    internal async Task<IRoleHandler> OpenAcceptorAsync(SimProcess process, SimDisk disk, NodeId id)
    {
        AcceptorHandler handler = await AcceptorHandler.OpenAsync(
            new SimAcceptorDevice(disk, process), Id, _formatted.Contains(id) ? NodeId.None : id,
            new AcceptorOptions { Reserve = 128 << 10 });
        _formatted.Add(id);
        return handler;
    }

    private static async Task DecideAsync(SimTransport transport, NodeAddress acceptor, Projection first)
    {
        LayoutResponse response = await transport.CallAsync(acceptor, new DecidedRequest(first), default);
        if (!response.IsOk) throw new InvalidOperationException($"acceptor {acceptor} answered {response.Status}");
    }

    // Chains as ClusterPlacement makes them: (0,1), (1,2), (2,0) for three units and two replicas.
    private Projection FirstProjection(NodeAddress sequencer)
    {
        ImmutableArray<Chain> chains =
        [
            .. Enumerable.Range(0, Plan.Units).Select(
                i =>
                    new Chain(
                        [.. Enumerable.Range(0, Plan.Replicas)
                            .Select(r => new Replica(Units[(i + r) % Plan.Units].UnitId))])),
        ];
        return new Projection(
            Id,
            Epoch.First,
            sequencer,
            LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, chains)],
            [.. Units.Take(Plan.Units).Select(u => u.Address).OrderBy(u => u.Id)],
            [.. Units.Take(Plan.Acceptors).Select(u => new NodeAddress(u.AcceptorId, u.Host.Endpoint))],
            "created");
    }

    private void RunOrThrow(string what, Func<bool> done)
    {
        if (Pump.Run(World, done, World.Now + 60 * TimeSpan.TicksPerSecond, World.Steps + 1_000_000)
            != Pump.Ending.Done)
        {
            throw new InvalidOperationException($"{what}: {string.Join("; ", World.Failures)}");
        }
    }
}
