using System.Collections.Immutable;
using Corfu.Hosting;

namespace Corfu.Integration.Tests.Hosting;

public sealed class PlacementTests
{
    [Fact]
    public void Three_units_with_two_replicas_make_the_chains_of_the_design()
    {
        var chains = ClusterPlacement.Chains(3, 2);
        Assert.Equal(["0,1", "1,2", "2,0"], chains.Select(chain => string.Join(',', chain)));
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 1)]
    [InlineData(5, 3)]
    [InlineData(4, 4)]
    public void Every_unit_is_head_once_and_in_as_many_chains_as_replicas(int units, int replicas)
    {
        var chains = ClusterPlacement.Chains(units, replicas);
        Assert.Equal(Enumerable.Range(0, units), chains.Select(chain => chain[0]));
        for (var unit = 0; unit < units; unit++) Assert.Equal(replicas, chains.Count(chain => chain.Contains(unit)));
        Assert.All(chains, chain => Assert.Equal(replicas, chain.Distinct().Count()));
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(3, 4)]
    [InlineData(3, 0)]
    [InlineData(2000, 2)]
    public void Impossible_numbers_are_named(int units, int replicas)
    {
        Assert.NotNull(ClusterPlacement.Fault(units, replicas));
        Assert.Throws<ArgumentOutOfRangeException>(() => ClusterPlacement.Chains(units, replicas));
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 1)]
    [InlineData(3, 3)]
    [InlineData(9, 3)]
    public void Acceptors_are_one_below_three_units_and_three_from_there(int units, int acceptors) =>
        Assert.Equal(acceptors, ClusterPlacement.AcceptorCount(units));
}
