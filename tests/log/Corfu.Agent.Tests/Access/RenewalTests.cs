using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Microsoft.Extensions.Logging.Abstractions;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests.Access;

/// <summary>R14 without clients' votes: an agent gives a sealed epoch its successor.</summary>
public sealed class RenewalTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly ManualTime _time = new();

    [Fact]
    public async Task R14_sealed_epoch_without_a_successor_gets_one_with_the_same_membership()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (view, renewal) = Parts(cluster);
        var sealedTo = await SealAsync(cluster);
        renewal.Saw(sealedTo, default);
        renewal.Step(0, 0, default);
        Assert.False(renewal.IsRunning);

        _time.Advance(Patience);
        renewal.Step(0, 0, default);
        await renewal.Ended;
        Assert.Equal(sealedTo, view.Epoch);
        Assert.Equal(cluster.First.Units, view.Projection!.Units);
        Assert.Equal(cluster.First.Sequencer, view.Projection.Sequencer);
        Assert.Equal(cluster.First.Active.Chains, view.Projection.Active.Chains);
    }

    [Fact]
    public async Task Agent_waits_longer_for_each_earlier_agent()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (view, renewal) = Parts(cluster);
        renewal.Saw(await SealAsync(cluster), default);
        _time.Advance(Patience);
        renewal.Step(1, 0, default);
        Assert.False(renewal.IsRunning);
        _time.Advance(Patience);
        renewal.Step(1, 0, default);
        await renewal.Ended;
        Assert.Equal(new Epoch(2), view.Epoch);
    }

    /// <summary>The proposer died between its votes and its decision: a membership change that one acceptor holds is
    /// still made by the agent that reads it.</summary>
    [Fact]
    public async Task Ballot_that_the_proposer_left_is_ended_and_no_other_value_is_proposed()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (view, renewal) = Parts(cluster);
        var sealedTo = await SealAsync(cluster);
        var p = cluster.First;
        var left = new Projection(p.Cluster, sealedTo, cluster.AddSequencer(), p.Start, p.TrimMark, p.Segments, p.Units,
            p.Acceptors, "left behind");
        await cluster.Transport.CallAsync(
            cluster.Acceptors[0], new AcceptRequest(new Ballot(7, Guid.NewGuid()), left), default);

        renewal.Saw(sealedTo, default);
        _time.Advance(Patience);
        renewal.Step(0, 0, default);
        await renewal.Ended;
        Assert.Equal(left, view.Projection);
    }

    [Fact]
    public async Task Epoch_that_was_decided_meanwhile_is_only_read()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (view, renewal) = Parts(cluster);
        var next = await cluster.Client().Cluster.ReconfigureAsync(static p => p.Epoch > Epoch.First ? null
            : Membership.Of(p), "an operator's");
        renewal.Saw(next.Epoch, default);
        _time.Advance(Patience);
        renewal.Step(0, 0, default);
        await renewal.Ended;
        Assert.Equal(next, view.Projection);
    }

    /// <summary>The seal that a run waits for may be one of the node that is gone: the change would wait behind it. A
    /// node that was gone before the run began stops no run, however often that is said.</summary>
    [Fact]
    public async Task Run_ends_when_a_node_is_found_gone_meanwhile()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (view, renewal) = Parts(cluster);
        renewal.Saw(await SealAsync(cluster), default);
        var never = new TaskCompletionSource<Fault>();
        cluster.Transport.Faults = (_, request) =>
            request is SealRequest ? new ValueTask<Fault>(never.Task) : new ValueTask<Fault>(Fault.None);
        _time.Advance(Patience);
        renewal.Step(0, 1, default);
        renewal.Step(0, 1, default);
        Assert.True(renewal.IsRunning);

        renewal.Step(0, 2, default);
        await renewal.Ended;
        Assert.False(renewal.IsRunning);
        Assert.Equal(Epoch.First, view.Epoch);
    }

    /// <summary>The client's part: it neither seals nor votes, and goes on once an agent has acted.</summary>
    [Fact]
    public async Task Client_appends_in_the_epoch_that_an_agent_began()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        cluster.Transport.Trace = new();
        var (_, renewal) = Parts(cluster);
        await using var client = new CorfuClient(cluster.First, new ClientRights(cluster.Transport),
            TimeProvider.System, new SeededEntropy(5), TestCluster.Options);
        await AppendAsync(client, 0, 1);
        cluster.Transport.Trace.Clear();

        // Both units refuse the epoch, and the reconfigurer that sealed them is gone.
        foreach (var unit in cluster.Units)
            await cluster.Transport.CallAsync(unit, new SealRequest(new Epoch(2)), default);
        cluster.Transport.Trace.Clear();
        var append = client.AppendAsync(Bytes(1), []).AsTask();
        await Task.WhenAny(append, WaitForAsync(() => cluster.Transport.Trace.Count(Peeks) > 20));
        Assert.False(append.IsCompleted);
        Assert.DoesNotContain(cluster.Transport.Trace, call => call.Request is PrepareRequest or AcceptRequest
            or DecidedRequest or SealRequest or InstallRequest or BootstrapRequest);

        renewal.Saw(new Epoch(2), default);
        _time.Advance(Patience);
        renewal.Step(0, 0, default);
        await renewal.Ended;
        Assert.Equal(new Epoch(2), (await append).Position.Epoch);
    }

    private static bool Peeks((NodeAddress To, Request Request) call) => call.Request is LatestRequest;

    private static async Task WaitForAsync(Func<bool> condition)
    {
        while (!condition()) await Task.Delay(5, TestContext.Current.CancellationToken);
    }

    /// <summary>As a reconfigurer that dies behind its first step does.</summary>
    private static async Task<Epoch> SealAsync(TestCluster cluster)
    {
        var next = cluster.First.Epoch.Next;
        Assert.True((await cluster.Transport.CallAsync(cluster.Units[0], new SealRequest(next), default)).IsOk);
        return next;
    }

    private (ClusterView View, Renewal Renewal) Parts(TestCluster cluster)
    {
        var layout = new LayoutClient(cluster.Transport, new SeededEntropy(9), TimeProvider.System);
        var clock = new AgentClock(_time);
        var view = new ClusterView(new AgentOptions { Self = default }, layout, clock, NullLogger.Instance);
        view.Adopt(cluster.First);
        var renewal = new Renewal(
            view, () => [.. cluster.Acceptors], cluster.Reconfigurer(), Patience, clock, NullLogger.Instance);
        return (view, renewal);
    }

    private sealed class ClientRights(Corfu.Transport.ITransport inner) : TransportWrapper(inner)
    {
        public override AccessRole Rights => AccessRole.Client;
    }
}
