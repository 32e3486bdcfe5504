using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Detection.Tests;

/// <summary>Nodes of a role that Corfu has not: a store brings its membership and how a node is probed.</summary>
public sealed class NodeMonitorTests
{
    private const NodeRole StoreRole = (NodeRole)77;

    private static readonly NodeAddress s_node =
        new(new NodeId(new Guid(1, 0, 0, new byte[8])), new NodeEndpoint("store", 1));

    private readonly Store _store = new();
    private readonly AgentLoop _loop = new(new AgentClock(TimeProvider.System), NullLogger.Instance);
    private readonly NodeMonitor _monitor;

    public NodeMonitorTests()
    {
        var options = new MonitorOptions(new NodeEndpoint("agent", 1), Milliseconds(5), Milliseconds(500),
            Milliseconds(50), TimeSpan.FromMinutes(1), Milliseconds(100), Milliseconds(100),
            new DetectorOptions { Interval = Milliseconds(20), DeadAfter = Milliseconds(30) });
        _monitor = new NodeMonitor(options, new NodeId(Guid.AllBitsSet), _store, new NodeLocations(), _store,
            _loop, NullLogger.Instance);
        _monitor.AddRole(_store);
    }

    [Fact]
    public async Task Node_of_a_stores_own_role_is_dead_once_the_machine_refuses_connections()
    {
        using var stop = new CancellationTokenSource();
        var running = _loop.RunAsync(() => _monitor.Step(stop.Token), Milliseconds(5), stop.Token);

        await UntilAsync(node => _monitor.Verdicts.Of(node).Health == NodeHealth.Alive);
        Assert.Equal(NodeDuty.Serving, _monitor.Targets.DutyOf(_store.Recorded!));

        _store.IsGone = true;
        await UntilAsync(node => _monitor.Verdicts.Of(node).Health == NodeHealth.Dead);
        // There is no other agent, and what the machine says is enough.
        var isAgreed = false;
        await _loop.Run(async () => isAgreed =
            await _monitor.Suspicions.IsAgreedAsync([new NamedNode(s_node, StoreRole)], stop.Token));
        Assert.True(isAgreed);

        await stop.CancelAsync();
        await running;
    }

    private async Task UntilAsync(Func<MonitoredNode, bool> isSo)
    {
        var found = false;
        while (!found)
        {
            await Task.Delay(5, TestContext.Current.CancellationToken);
            await _loop.Run(() =>
            {
                found = _monitor.Targets.Nodes.Any(node => node.Role == StoreRole && isSo(node));
                return Task.CompletedTask;
            });
        }
    }

    private static TimeSpan Milliseconds(int count) => TimeSpan.FromMilliseconds(count);

    /// <summary>A store of one node, in one process without an agent.</summary>
    private sealed class Store : IMembership, IWatchedRole, ITransport
    {
        public bool IsGone { get; set; }

        public MonitoredNode? Recorded { get; private set; }

        public Epoch Epoch => new(3);

        public ImmutableArray<NamedNode> Named => [new NamedNode(s_node, StoreRole)];

        public NodeRole Role => StoreRole;

        public bool ReturnsAfterLeaving => true;

        public bool IsAlwaysSlow => false;

        public bool HoldsData => true;

        public ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken)
        {
            ThrowIfGone();
            return ValueTask.FromResult<Response>(new AckResponse(Status.Ok, Epoch));
        }

        public Status StatusOf(Response answer) => answer.Status;

        public void Record(MonitoredNode node, Response answer)
        {
            node.Epoch = answer.Epoch;
            Recorded = node;
        }

        public Task CatchUpAsync(MonitoredNode node, CancellationToken stopped) => Task.CompletedTask;

        public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
        {
            ThrowIfGone();
            return endpoint == s_node.Endpoint
                ? ValueTask.FromResult(new NodeDescription(default, [new RoleIdentity(StoreRole, s_node.Id)]))
                : throw new TransportException("nothing listens there", outcomeUnknown: false);
        }

        public ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
            where TResponse : Response => throw new NotSupportedException();

        public void Drop(NodeAddress node)
        {
        }

        private void ThrowIfGone()
        {
            if (IsGone)
                throw new TransportException("refused", outcomeUnknown: false) { Fault = TransportFault.Refused };
        }
    }
}
