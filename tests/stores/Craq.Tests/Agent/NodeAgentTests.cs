using Corfu.TestKit;
using Craq.Agent;
using Craq.Coordination;
using Craq.Storage;
using Craq.Tests.Chains;
using Craq.Tests.Coordination;
using Microsoft.Extensions.Logging.Abstractions;

namespace Craq.Tests.Agent;

/// <summary>Agents beside the nodes of a chain: three members, and node 4.</summary>
public sealed class NodeAgentTests
{
    [Fact]
    public void Killed_member_is_removed_and_another_node_takes_the_place() => Run(async (chain, agents) =>
    {
        for (var i = 0; i < 50; i++) await PutAsync(chain, $"k{i}", $"v{i}");
        var victim = TestChain.NumberOf(chain.Config.Members[1].Node);
        await agents.KillAsync(victim);
        await chain.UntilAsync(() => chain.Config.IndexOf(Samples.Id(victim)) < 0, seconds: 60);
        chain.Directory.SetState(victim, DirectoryNodeState.Gone);
        await chain.UntilAsync(
            () => chain.Config is { Members.Length: 3, IsRecordedOpen: true }, seconds: 60);
        await PutAsync(chain, "after", "v");
        foreach (var member in chain.Config.Members)
        {
            Assert.Equal("v7", await chain.GetAsync(TestChain.NumberOf(member.Node), "k7"));
            Assert.Equal("v", await chain.GetAsync(TestChain.NumberOf(member.Node), "after"));
        }
    });

    [Fact]
    public void Member_cut_off_from_a_single_member_stays() => Run(async (chain, _) =>
    {
        var config = chain.Config;
        chain.Network.Cut(config.Members[0].Node, config.Members[2].Node);
        await chain.DelayAsync(30_000);
        Assert.Equal(3, chain.Config.Members.Count(member => config.IndexOf(member.Node) >= 0));
    }, nodes: 3);

    /// <summary>Nothing is changed while the two do not reach each other, and all is as before when they do.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Chain_goes_on_without_one_of_two_neighbours_that_do_not_reach_each_other(int first) => Run(
        async (chain, _) =>
        {
            var config = chain.Config;
            chain.Network.Cut(config.Members[first].Node, config.Members[first + 1].Node);
            await chain.UntilAsync(() => chain.Config is { Members.Length: 2, IsRecordedOpen: true }, seconds: 60);
            Assert.Equal(-1, chain.Config.IndexOf(config.Members[first + 1].Node));
            await PutAsync(chain, "x", "v");
            var epoch = chain.Config.Epoch;
            await chain.DelayAsync(120_000);
            Assert.Equal(epoch, chain.Config.Epoch);
            chain.Network.Heal();
            await chain.UntilAsync(() => chain.Config is { Members.Length: 3, IsRecordedOpen: true }, seconds: 60);
            foreach (var member in chain.Config.Members)
                Assert.Equal("v", await chain.GetAsync(TestChain.NumberOf(member.Node), "x"));
        }, nodes: 3);

    [Fact]
    public void Chain_of_two_goes_on_without_a_member_that_the_other_does_not_reach() => TestChain.Run(async chain =>
    {
        await using var agents = new Agents(chain, 2);
        await chain.DelayAsync(10_000);
        chain.Network.Cut(Samples.Id(1), Samples.Id(2));
        await chain.UntilAsync(() => chain.Config is { Members.Length: 1, IsRecordedOpen: true }, seconds: 60);
        await PutAsync(chain, "x", "v");
        chain.Network.Heal();
        await chain.UntilAsync(() => chain.Config is { Members.Length: 2, IsRecordedOpen: true }, seconds: 60);
        Assert.Equal("v", await chain.GetAsync(2, "x"));
    }, members: 2);

    [Fact]
    public void Drained_node_is_replaced_and_leaves() => Run(async (chain, _) =>
    {
        for (var i = 0; i < 50; i++) await PutAsync(chain, $"k{i}", $"v{i}");
        var drained = TestChain.NumberOf(chain.Config.Head.Node);
        chain.Directory.SetState(drained, DirectoryNodeState.Draining);
        await chain.UntilAsync(() => chain.Config is { Members.Length: 3, IsRecordedOpen: true }
            && chain.Config.IndexOf(Samples.Id(drained)) < 0, seconds: 60);
        foreach (var member in chain.Config.Members)
            Assert.Equal("v9", await chain.GetAsync(TestChain.NumberOf(member.Node), "k9"));
    });

    [Fact]
    public void Promoted_learner_without_forgotten_records_is_withdrawn_and_learns_again() => TestChain.Run(
        async chain =>
        {
            var held = new TaskCompletionSource();
            var isComplete = () => chain.Store(4).Log.Any(record => record.Kind == StoreRecordKind.Full);
            chain.Network.Holds = (from, _, request) =>
                from == Samples.Id(4) && request is FetchRequest && isComplete() ? held.Task : Task.CompletedTask;
            for (var i = 0; i < 50; i++) await PutAsync(chain, $"k{i}", "old");
            await using var agents = new Agents(chain, 4);
            await chain.UntilAsync(isComplete);
            // Records that no member has in memory any more, and that the learner lacks.
            for (var i = 0; i < 50; i++) await PutAsync(chain, $"k{i}", "new");
            var promoted = chain.Change(Samples.Promote(4, 3)).Epoch;
            chain.Network.Holds = null;
            held.SetResult();
            await chain.UntilAsync(() => chain.Config.Epoch > promoted && chain.Config.IndexOf(Samples.Id(4)) < 0, 60);
            await chain.UntilAsync(() => chain.Config is { Members.Length: 4, IsRecordedOpen: true }, seconds: 60);
            for (var i = 0; i < 50; i += 7) Assert.Equal("new", await chain.GetAsync(4, $"k{i}"));
            await PutAsync(chain, "after", "v");
        }, members: 3, nodes: 4, placement: Placement.Implicit(1, 4), node: new CraqNodeOptions { MaxHotBytes = 1024 });

    // A learner that has become the head knows no write ids below its base (C13): a client knows a newer mark.
    private static async Task PutAsync(TestChain chain, string key, string value)
    {
        var mark = chain.MarkOf(TestChain.NumberOf(chain.Config.Head.Node));
        var put = chain.Mutation(TestChain.Put(key, value)) with { NotBefore = mark };
        Assert.Equal(Status.Ok, (await chain.MutateAsync(put)).Status);
    }

    private static void Run(Func<TestChain, Agents, Task> body, int nodes = 4) => TestChain.Run(async chain =>
    {
        await using var agents = new Agents(chain, nodes);
        // The placement may wish for other members than the first three.
        await chain.DelayAsync(10_000);
        await chain.UntilAsync(() => chain.Config is { Members.Length: 3, IsRecordedOpen: true });
        await body(chain, agents);
    }, members: 3, nodes: nodes);

    private sealed class Agents : IAsyncDisposable
    {
        private readonly TestChain _chain;
        private readonly Dictionary<int, NodeAgent> _agents = [];

        public Agents(TestChain chain, int nodes)
        {
            _chain = chain;
            for (var i = 1; i <= nodes; i++)
            {
                _agents[i] = NodeAgent.Attach(chain.Node(i), chain.Store(i),
                    new NodeAgentParts(chain.Access(i), new Registry(), chain.Network.From(Samples.Id(i)),
                        new CraqNodeOptions(), new CraqAgentOptions()),
                    chain.Time, SeededContext.Loops, NullLogger.Instance);
            }
        }

        public async Task KillAsync(int node)
        {
            await _agents[node].DisposeAsync();
            _agents.Remove(node);
            await _chain.KillAsync(node);
        }

        public async ValueTask DisposeAsync()
        {
            foreach (var agent in _agents.Values) await agent.DisposeAsync();
        }
    }

    private sealed class Registry : INodeRegistry
    {
        public ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken) => new((string?)null);

        public ValueTask<bool> ReleaseAsync(ChainConfig config, CancellationToken cancellationToken) => new(true);
    }
}
