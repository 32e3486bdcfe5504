using System.Collections.Immutable;

namespace Craq.Protocol.Tests;

/// <summary>The way from a key to its chain never changes.</summary>
public sealed class KeyspaceTests
{
    [Fact]
    public void Keys_spread_evenly_over_the_chains()
    {
        var keyspace = Keyspace(16);
        var counts = Enumerable.Range(0, 16_000).CountBy(i => keyspace.ChainOf($"user:{i}")).ToDictionary();
        Assert.Equal(16, counts.Count);
        Assert.All(counts.Values, count => Assert.InRange(count, 800, 1200));
    }

    [Fact]
    public void Single_chain_has_every_key() =>
        Assert.All(["a", "b", "c"], key => Assert.Equal(Keyspace(1).Chains[0], Keyspace(1).ChainOf(key)));

    /// <summary>Recorded: a change would lose every stored object.</summary>
    [Theory]
    [InlineData("a", 7)]
    [InlineData("user:1", 1)]
    [InlineData("user:2", 1)]
    public void Key_has_the_recorded_chain(string key, int chain) =>
        Assert.Equal(Keyspace(8).Chains[chain], Keyspace(8).ChainOf(key));

    private static KeyspaceView Keyspace(int chains) => new("cache",
        [.. Enumerable.Range(0, chains).Select(i => ChainId.FromName($"cache-{i}"))]);
}
