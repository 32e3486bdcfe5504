using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent.Tests.Detection;

public sealed class MonitorTests
{
    /// <summary>An error that no transport should throw must not leave a node without probes for ever.</summary>
    [Fact]
    public async Task A_node_whose_probe_ended_in_an_unexpected_error_is_probed_again()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var unit = cluster.Units[0];
        var probes = new FirstCallBreaks(cluster.Transport, unit.Id);
        var options = new AgentOptions
        {
            Self = new NodeEndpoint("test", 1000),
            Peers = [.. cluster.Units.Concat(cluster.Acceptors).Select(node => node.Endpoint)],
            Step = TimeSpan.FromMilliseconds(5),
            SlowInterval = TimeSpan.FromMilliseconds(20),
        };
        var agent = new ClusterAgent(options, probes, cluster.Transport, TimeProvider.System, new SeededEntropy(1));
        cluster.Transport.Serve(options.Self, agent);
        using var stop = new CancellationTokenSource();
        var running = agent.RunAsync(stop.Token);

        await probes.Repeated.WaitAsync(TestContext.Current.CancellationToken);

        await stop.CancelAsync();
        await running;
    }

    private sealed class FirstCallBreaks(ITransport inner, NodeId node) : TransportWrapper(inner)
    {
        private readonly TaskCompletionSource _repeated = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _calls;

        /// <summary>Ends with the second call to the node.</summary>
        public Task Repeated => _repeated.Task;

        public override ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        {
            if (to.Id == node)
            {
                if (Interlocked.Increment(ref _calls) == 1)
                    throw new InvalidOperationException("a fault of the transport itself");
                _repeated.TrySetResult();
            }

            return base.CallAsync(to, request, cancellationToken);
        }
    }
}
