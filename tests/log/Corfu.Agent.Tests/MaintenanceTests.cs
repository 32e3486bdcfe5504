using System.Collections.Immutable;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

/// <summary>Background work of agents: once in a cluster, by the first agent, and not at all when automation is
/// off.</summary>
public class MaintenanceTests
{
    private static readonly AgentOptions Fast = new()
    {
        Self = default,
        Step = TimeSpan.FromMilliseconds(5),
        SlowInterval = TimeSpan.FromMilliseconds(20),
        RefreshInterval = TimeSpan.FromMilliseconds(20),
        BackOffStep = TimeSpan.FromMilliseconds(500),
        LeadAfter = TimeSpan.FromSeconds(1),
        MaxSegments = 1,
        Migration = new RebuildOptions { Batch = 16, RetryDelay = TimeSpan.FromMilliseconds(1) },
        Rebuild = new RebuildOptions { Batch = 16, RetryDelay = TimeSpan.FromMilliseconds(1) },
        Scrub = new ScrubOptions { PositionsPerSecond = null, Batch = 16 },
        // An agent that has just started does not know the others yet.
        ScrubAfter = TimeSpan.FromMilliseconds(500),
    };

    /// <summary>Agents of one cluster, in the order of their endpoints.</summary>
    private sealed class Agents : IAsyncDisposable
    {
        private readonly CancellationTokenSource _stop = new();
        private readonly List<Task> _running = [];

        /// <param name="first">The transport of the first agent; null: the cluster's.</param>
        public Agents(TestCluster cluster, int count, AgentOptions options, ILogger? logger = null,
            ITransport? first = null)
        {
            ImmutableArray<NodeEndpoint> endpoints = [.. Enumerable.Range(0, count)
                .Select(i => new NodeEndpoint("test", 1000 + i))];
            ImmutableArray<NodeEndpoint> peers = [.. endpoints,
                .. cluster.Units.Concat(cluster.Acceptors).Append(cluster.First.Sequencer).Select(a => a.Endpoint)];
            foreach (var endpoint in endpoints)
            {
                var agent = new ClusterAgent(
                    options with { Self = endpoint, Peers = peers }, cluster.Transport,
                    All.Count == 0 && first is not null ? first : cluster.Transport, TimeProvider.System,
                    new SeededEntropy(endpoint.Port), logger, reconfiguration: TestCluster.Options.Reconfiguration);
                cluster.Transport.Serve(endpoint, agent);
                All.Add(agent);
            }

            foreach (var agent in All) _running.Add(agent.RunAsync(_stop.Token));
        }

        public List<ClusterAgent> All { get; } = [];

        public async ValueTask DisposeAsync()
        {
            await _stop.CancelAsync();
            await Task.WhenAll(_running);
        }
    }

    private static async Task<AgentInfoResponse> AskAsync(TestCluster cluster, ClusterAgent agent) =>
        await cluster.Transport.CallAsync(new NodeAddress(agent.Id, new NodeEndpoint("test", 1000)),
            new AgentInfoRequest(Epoch.None), default);

    private static async Task<TestCluster> OfManySegmentsAsync()
    {
        var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        for (var i = 0; i < 3; i++)
        {
            await AppendAsync(client, i * 40, 40);
            await OperationsOf(cluster, client).AddUnitsAsync([await cluster.AddUnitAsync()], "capacity");
        }

        Assert.Equal(4, client.Projection.Segments.Length);
        return cluster;
    }

    [Fact]
    public async Task TOCS_2_6_small_segments_are_migrated_in_the_background_by_the_first_agent_alone()
    {
        await using var cluster = await OfManySegmentsAsync();
        await using var agents = new Agents(cluster, 2, Fast with { Scrub = null });
        while (agents.All[0].Projection?.Segments.Length is not 1)
        {
            Assert.Empty((await AskAsync(cluster, agents.All[1])).Work);
            await Task.Yield();
        }

        Assert.Contains(await cluster.Client().Cluster.ReadHistoryAsync(100),
            p => p.Reason.Contains("migration", StringComparison.Ordinal));
        await AssertWholeAsync(cluster.Client(), 120);
    }

    [Fact]
    public async Task Damage_that_no_reader_meets_is_mended_by_the_scrub_of_the_first_agent_alone()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        var damage = new Damage();
        damage.Add(cluster.Units[2], new LogPosition(1));
        damage.Add(cluster.Units[1], new LogPosition(28), PageState.Unwritten);
        cluster.Transport.Rewrite = damage.Rewrite;
        await using var agents = new Agents(cluster, 2, Fast with { MaxSegments = 4 });
        while (!damage.Healed.IsCompleted)
        {
            Assert.Empty((await AskAsync(cluster, agents.All[1])).Work);
            await Task.Yield();
        }
    }

    [Fact]
    public async Task Switched_off_agents_change_no_projection()
    {
        await using var cluster = await OfManySegmentsAsync();
        await using var agents = new Agents(cluster, 1, Fast with { Automatic = false });
        var client = cluster.Client();

        // The agent looks and reports all the same. Once it has seen a change of the cluster, it would have had time to
        // begin.
        await client.Cluster.RefreshAsync();
        for (var i = 0; i < 10; i++)
        {
            var projection = await OperationsOf(cluster, client)
                .ReplaceSequencerAsync(client.Projection.Sequencer.Id, [cluster.AddSequencer()], "by hand");
            while (agents.All[0].Projection?.Epoch != projection.Epoch) await Task.Yield();
            Assert.Empty((await AskAsync(cluster, agents.All[0])).Work);
        }

        Assert.Equal(4, client.Projection.Segments.Length);
    }

    [Fact]
    public async Task A_logger_that_throws_stops_neither_an_agent_nor_a_rebuild()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        var spare = await cluster.AddUnitAsync();
        await OperationsOf(cluster, client).ReplaceUnitAsync(cluster.Units[0].Id, [spare], "gone");
        await using var agents = new Agents(cluster, 1, Fast with { Scrub = null, BackOffStep = TimeSpan.Zero },
            new ThrowingLogger());
        while (agents.All[0].Projection is not { } projection || Rebuilder.IsNeeded(projection)) await Task.Yield();
        await AssertWholeAsync(cluster.Client(), 60);
    }

    /// <summary>Each run leaves the other units sealed, and the second agent renews the epoch. A seed of the simulator:
    /// the epochs counted as progress, so that the first agent kept the job and held up all appends for ever.</summary>
    [Fact]
    public async Task Rebuild_by_an_agent_that_cannot_seal_a_unit_is_passed_on_though_epochs_follow()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        var spare = await cluster.AddUnitAsync();
        await OperationsOf(cluster, client).ReplaceUnitAsync(cluster.Units[0].Id, [spare], "gone");
        var options = Fast with
        {
            Scrub = null,
            MaxSegments = 4,
            SuccessorTimeout = TimeSpan.FromMilliseconds(20),
            StalledJobLimit = TimeSpan.FromSeconds(1),
        };
        await using var agents = new Agents(cluster, 2, options,
            first: new NoSeals(cluster.Transport, cluster.Units[1].Id));
        using var late = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (agents.All[1].Projection is not { } projection || Rebuilder.IsNeeded(projection))
            await Task.Delay(1, late.Token);

        await client.Cluster.RefreshAsync();
        Assert.Contains(
            await client.Cluster.ReadHistoryAsync(100), p => p.Reason == "a seal without a successor");
        await AssertWholeAsync(cluster.Client(), 60);
    }

    /// <summary>A unit takes no seal that comes this way.</summary>
    private sealed class NoSeals(ITransport inner, NodeId unit) : TransportWrapper(inner)
    {
        public override ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken) =>
            to.Id == unit && request is SealRequest
                ? new((TResponse)request.Fail(Status.Denied, Epoch.None))
                : base.CallAsync(to, request, cancellationToken);
    }

    private sealed class ThrowingLogger : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => throw new IOException("the disk is full");

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) =>
            throw new IOException("the disk is full");
    }
}
