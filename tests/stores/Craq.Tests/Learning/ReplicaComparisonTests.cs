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
            Assert.Equal(
                new[] { versions["key3"], ObjectVersion.None, versions["key3"] }, found.Versions.ToArray());
            Assert.Equal(0, unsettled);
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
        TestChain chain, ChainConfig? config = null)
    {
        var sources = chain.Config.Members.ToDictionary(member => member.Node, member =>
            new Source(chain.Node(TestChain.NumberOf(member.Node)), chain.Store(TestChain.NumberOf(member.Node))));
        return await new ReplicaComparison(config ?? chain.Config, async (node, request, _) =>
        {
            var sink = new Answered();
            sources[node].Handle(request, new ReplyTo(sink, 0, request.Opcode));
            return (ReconcileResponse)await sink.Answer.Task;
        }, chain.Time).RunAsync(CancellationToken.None);
    }

    private sealed class Answered : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.TrySetResult(response);
    }
}
