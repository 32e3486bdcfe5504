namespace Craq.Client.Tests;

/// <summary>Keyspaces: a key leads to its chain.</summary>
public sealed class KeyspaceTests
{
    private static readonly KeyspaceView s_cache =
        new("cache", [.. Enumerable.Range(0, 4).Select(i => ChainId.FromName($"cache-{i}"))]);

    [Fact]
    public async Task Objects_are_read_from_the_chains_of_the_keys_in_the_order_of_the_keys()
    {
        await using var setup = WithKeyspace();
        ImmutableArray<ObjectKey> keys = [.. Enumerable.Range(0, 50).Select(i => new ObjectKey($"key{i}"))];
        var found = await setup.Client.Keyspace("cache").GetManyAsync(keys);
        Assert.Equal(keys.Select(key => key.ToString()),
            found.Select(one => System.Text.Encoding.ASCII.GetString(one.Value.Span)));
        var reads = setup.Nodes.SentOf<ReadObjectsRequest>().ToList();
        Assert.Equal(4, reads.Count);
        Assert.All(reads, read => Assert.All(read.Keys, key => Assert.Equal(read.Chain, s_cache.ChainOf(key))));
    }

    [Fact]
    public async Task Mutation_over_several_chains_is_refused()
    {
        await using var setup = WithKeyspace();
        var builder = new MutateBuilder();
        for (var i = 0; i < 20; i++) builder.Put($"key{i}", default);
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await setup.Client.Keyspace("cache").MutateAsync(builder));
        Assert.Empty(setup.Nodes.SentOf<MutateRequest>());
    }

    [Fact]
    public async Task Clear_goes_to_every_chain()
    {
        await using var setup = WithKeyspace();
        Assert.True((await setup.Client.Keyspace("cache").ClearAsync()).IsWritten);
        var sent = setup.Nodes.SentOf<MutateRequest>().ToList();
        Assert.Equal(s_cache.Chains.Order(), sent.Select(one => one.Chain).Order());
        Assert.All(sent, one => Assert.Equal(ObjectOperationKind.Clear, Assert.Single(one.Operations).Kind));
    }

    [Fact]
    public async Task Keyspace_unknown_to_nodes_is_an_error_with_the_name()
    {
        await using var setup = WithKeyspace();
        var error = await Assert.ThrowsAsync<ChainNotFoundException>(
            async () => await setup.Client.Keyspace("none").GetAsync("k"));
        Assert.Contains("'none'", error.Message);
    }

    [Fact]
    public async Task Chains_of_all_nodes_are_listed_once_with_the_newest_config()
    {
        await using var setup = new Setup();
        setup.Nodes.First<ChainsRequest>(2, _ => new ChainsResponse(Status.Ok, new Epoch(7))
        {
            Views = [FakeNodes.View(Setup.Orders, 7, (2, "east")), FakeNodes.View(s_cache.Chains[0], 1, (2, "east"))],
        });
        var views = await setup.Client.ListChainsAsync();
        Assert.Equal([1, 7], views.Select(view => view.Config.Epoch.Value).Order());
    }

    private static Setup WithKeyspace()
    {
        var setup = new Setup();
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<ChainsRequest>(node, request => new ChainsResponse(Status.Ok, new Epoch(5))
            {
                Views = [.. request.Chains.Select(chain => FakeNodes.View(chain, 5, (1, "east"), (2, "west")))],
                Keyspaces = request.Keyspaces.Contains("cache") ? [s_cache] : [],
            });
        return setup;
    }
}
