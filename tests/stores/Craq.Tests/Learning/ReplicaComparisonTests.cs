using Craq.Coordination;
using Craq.Learning;
using Craq.Tests.Chains;

namespace Craq.Tests.Learning;

/// <summary>The comparison of replicas, over nodes in this process.</summary>
public sealed class ReplicaComparisonTests
{
    [Fact]
    public void Replicas_of_one_history_are_equal() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 300; i++) await chain.PutAsync($"{i % 200}", $"{i}");
        var (differences, unsettled) = await CompareAsync(chain);
        Assert.Empty(differences);
        Assert.Equal(0, unsettled);
    });

    [Theory]
    [InlineData(5)]
    [InlineData(300)]
    public void Object_that_a_replica_lacks_is_named_with_the_versions_of_all(int objects) =>
        TestChain.Run(async chain =>
        {
            var versions = new Dictionary<string, ObjectVersion>();
            for (var i = 0; i < objects; i++) versions[$"key{i}"] = await chain.PutAsync($"key{i}", "v");
            await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1) && chain.MarkOf(2) == chain.LastOf(1));
            chain.Store(2).Remove(chain.Id, "key3", versions["key3"], 0);
            var (differences, unsettled) = await CompareAsync(chain);
            var found = Assert.Single(differences);
            Assert.Equal("key3", found.Key!.Value.ToString());
            Assert.Equal(new[] { versions["key3"], ObjectVersion.None, versions["key3"] },
                found.Replicas.Select(own => own.Version));
            Assert.Equal(0, unsettled);
        });

    /// <summary>Lists of contents end at another object at each member, as far as the test cuts them.</summary>
    [Theory]
    [InlineData(5, 1000)]
    [InlineData(300, 1000)]
    [InlineData(300, 20)]
    public void Object_with_altered_bytes_is_named(int objects, int listed) => TestChain.Run(async chain =>
    {
        for (var i = 0; i < objects; i++) await chain.PutAsync($"key{i}", "v");
        await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1) && chain.MarkOf(2) == chain.LastOf(1));
        Assert.Empty((await CompareAsync(chain, change: Cut)).Differences);
        chain.Store(2).Alter(chain.Id, "key3", "w"u8.ToArray());
        Assert.Empty((await CompareAsync(chain, withContents: false)).Differences);
        var found = Assert.Single((await CompareAsync(chain, change: Cut)).Differences);
        Assert.Equal("key3", found.Key!.Value.ToString());
        Assert.Single(found.Replicas.Select(own => own.Version).Distinct());
        Assert.Equal(found.Replicas[0], found.Replicas[2]);
        Assert.NotEqual(found.Replicas[0].Check, found.Replicas[1].Check);

        ReconcileResponse Cut(NodeId node, ReconcileResponse answer)
        {
            var most = listed + TestChain.NumberOf(node);
            return answer.Contents is { } list && list.Objects.Length > most
                ? answer with { Contents = new ContentList(list.Objects[..most], list.Objects[most].Hash) }
                : answer;
        }
    });

    [Fact]
    public void Object_that_a_replica_cannot_read_is_named() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 10; i++) await chain.PutAsync($"key{i}", "v");
        await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1) && chain.MarkOf(2) == chain.LastOf(1));
        chain.Store(1).Loses = key => Task.FromResult(key == "key3");
        var found = Assert.Single((await CompareAsync(chain)).Differences);
        Assert.Equal("key3", found.Key!.Value.ToString());
        Assert.Equal([true, false, false], found.Replicas.Select(own => own.IsDamaged));
    });

    [Fact]
    public void Comparison_of_versions_reads_no_values() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 10; i++) await chain.PutAsync($"key{i}", "v");
        for (var node = 1; node <= 3; node++) chain.Store(node).Loses = _ => throw new InvalidOperationException();
        Assert.Empty((await CompareAsync(chain, withContents: false)).Differences);
    });

    [Fact]
    public void Member_of_an_earlier_build_is_named_where_contents_are_compared() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var error = await Assert.ThrowsAsync<CorfuException>(() => CompareAsync(chain, change: Early));
        Assert.Contains($"{chain.Config.Members[1].Node} runs an earlier build", error.Message);
        Assert.Empty((await CompareAsync(chain, withContents: false, change: Early)).Differences);

        static ReconcileResponse Early(NodeId node, ReconcileResponse answer) =>
            TestChain.NumberOf(node) == 2 ? answer with { Contents = null } : answer;
    });

    /// <summary>Members stand at different marks while writes go on: that is no difference.</summary>
    [Fact]
    public void Objects_that_are_written_meanwhile_do_not_differ() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 100; i++) await chain.PutAsync($"{i}", "v");
        var ends = false;
        var writing = WriteAsync();
        for (var i = 0; i < 5; i++) Assert.Empty((await CompareAsync(chain)).Differences);
        ends = true;
        await writing;
        Assert.Equal(0, (await CompareAsync(chain)).Unsettled);

        async Task WriteAsync()
        {
            for (var i = 0; !ends; i++) await chain.PutAsync($"{i % 100}", "w");
        }
    });

    [Fact]
    public void Chain_of_another_epoch_is_not_compared() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var before = chain.Config;
        chain.Change(new ChainChange.Renew());
        await chain.OpenedAsync();
        await Assert.ThrowsAsync<CorfuException>(() => CompareAsync(chain, before));
    });

    private static async Task<(ImmutableArray<FoundDifference> Differences, int Unsettled)> CompareAsync(
        TestChain chain, ChainConfig? config = null, bool withContents = true,
        Func<NodeId, ReconcileResponse, ReconcileResponse>? change = null)
    {
        var sources = chain.Config.Members.Select(member => member.Node).ToDictionary(node => node, node =>
            new Source(chain.Node(TestChain.NumberOf(node)), chain.Store(TestChain.NumberOf(node)), chain.Time));
        return await new ReplicaComparison(config ?? chain.Config, async (node, request, _) =>
        {
            var sink = new Answered();
            sources[node].Handle(request, new ReplyTo(sink, 0, request.Opcode));
            var answer = (ReconcileResponse)await sink.Answer.Task;
            return change is null ? answer : change(node, answer);
        }, chain.Time, withContents).RunAsync(CancellationToken.None);
    }

    private sealed class Answered : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.TrySetResult(response);
    }
}
