using System.Collections.Concurrent;
using System.Collections.Immutable;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent.Tests;

public sealed class AcceptorChangeTests
{
    private static readonly AgentOptions Fast = new()
    {
        Self = new NodeEndpoint("test", 1000),
        Step = TimeSpan.FromMilliseconds(5),
        SlowInterval = TimeSpan.FromMilliseconds(20),
        RefreshInterval = TimeSpan.FromMilliseconds(20),
        BackOffStep = TimeSpan.Zero,
        Scrub = null,
        Detector = new DetectorOptions { Interval = TimeSpan.FromMilliseconds(5) },
    };

    /// <summary>The simulator's seed 2883: what an agent held of a spare acceptor was older than its lost
    /// disk.</summary>
    [Fact]
    public async Task R12_an_acceptor_gives_way_to_one_that_answers_at_that_moment()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2, acceptors: 3);
        ImmutableArray<NodeAddress> spares = [cluster.AddAcceptor(), cluster.AddAcceptor()];
        var transport = new Replacing(cluster.Transport);
        var options = Fast with
        {
            Peers = [.. cluster.Units.Concat(cluster.Acceptors).Concat(spares).Append(cluster.First.Sequencer)
                .Select(node => node.Endpoint)],
        };
        var agent = new ClusterAgent(
            options, transport, transport, TimeProvider.System, new SeededEntropy(options.Self.Port));
        cluster.Transport.Serve(options.Self, agent);
        using var stop = new CancellationTokenSource();
        var running = agent.RunAsync(stop.Token);
        var self = new NodeAddress(agent.Id, options.Self);
        while (!await KnowsAsync(cluster, self, spares)) await Task.Yield();

        // The first spare's probes have all succeeded so far: it is found out when it is to take the place.
        transport.Gone.TryAdd(spares[0].Id, 0);
        transport.Gone.TryAdd(cluster.Acceptors[0].Id, 0);
        while (agent.Projection!.Acceptors.Contains(cluster.Acceptors[0])) await Task.Yield();

        Assert.Equal([spares[1], cluster.Acceptors[1], cluster.Acceptors[2]], agent.Projection.Acceptors);
        await stop.CancelAsync();
        await running;
    }

    private static async Task<bool> KnowsAsync(
        TestCluster cluster, NodeAddress agent, ImmutableArray<NodeAddress> spares)
    {
        var info = await cluster.Transport.CallAsync(agent, new AgentInfoRequest(Epoch.None), default);
        return spares.All(spare => info.Nodes.Any(
            node => node is { Duty: NodeDuty.Standby, Health: NodeHealth.Alive } && node.Address == spare));
    }

    /// <summary>At the endpoints of some nodes another identity answers.</summary>
    private sealed class Replacing(ITransport inner) : TransportWrapper(inner)
    {
        public ConcurrentDictionary<NodeId, byte> Gone { get; } = [];

        public override ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken) => Gone.ContainsKey(to.Id)
            ? throw new TransportException($"another identity answers at {to.Endpoint}", outcomeUnknown: false)
            { Fault = TransportFault.WrongIdentity }
            : base.CallAsync(to, request, cancellationToken);
    }
}
