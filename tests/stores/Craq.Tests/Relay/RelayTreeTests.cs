using Craq.Relay;
using Craq.Tests.Coordination;

namespace Craq.Tests.Relay;

public sealed class RelayTreeTests
{
    [Theory]
    [InlineData("eeeeeee", "1,2;3,4;5,6;;;;")]
    [InlineData("eeewww", "3,1,2;;;4,5;;")]
    [InlineData("abcde", "1,2;3,4;;;")]
    [InlineData("ewe", "1,2;;")]
    [InlineData("e", "")]
    public void Children_are_the_places_below_in_the_tree(string datacenters, string children)
    {
        var config = Config(datacenters);
        Assert.Equal(children, string.Join(';', Enumerable.Range(0, datacenters.Length)
            .Select(member => string.Join(',', RelayTree.ChildrenOf(config, member)))));
    }

    [Fact]
    public void Every_member_but_the_head_has_exactly_one_parent_and_every_datacenter_one_way_in()
    {
        var random = new Random(7);
        for (var length = 1; length <= ChainConfig.MaxMembers; length++)
        {
            var datacenters = string.Concat(Enumerable.Range(0, length).Select(_ => (char)('a' + random.Next(5))));
            var config = Config(datacenters);
            var parents = new Dictionary<int, int>();
            var reached = new Queue<int>([0]);
            while (reached.TryDequeue(out var member))
            {
                var children = RelayTree.ChildrenOf(config, member);
                Assert.InRange(children.Length, 0, 4);
                foreach (var child in children)
                {
                    parents.Add(child, member);
                    reached.Enqueue(child);
                }
            }

            Assert.Equal(Enumerable.Range(1, length - 1), parents.Keys.Order());
            var crossings = parents.Where(edge => datacenters[edge.Key] != datacenters[edge.Value]).ToArray();
            Assert.Equal(datacenters.Distinct().Count() - 1, crossings.Length);
            Assert.Equal(crossings.Length, crossings.Select(edge => datacenters[edge.Key]).Distinct().Count());
        }
    }

    private static ChainConfig Config(string datacenters)
    {
        ImmutableArray<ChainMember> members =
            [.. datacenters.Select((name, place) => new ChainMember(Samples.Id(place + 1), name.ToString()))];
        return Samples.Open(1).Config with { Members = members };
    }
}
