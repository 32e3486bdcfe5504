using Craq.Coordination;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Coordination;

public class PlacementRulesTests
{
    private static readonly ImmutableArray<DirectoryNode> s_nodes =
    [
        .. Enumerable.Range(1, 6).Select(number => Node(number)),
        .. Enumerable.Range(7, 6).Select(number => Node(number, "west")),
        .. Enumerable.Range(13, 6).Select(number => Node(number, "north")),
    ];

    private static ImmutableArray<ChainMember> Wish(Placement placement, string chain = "chain") =>
        PlacementRules.Wish(placement, ChainId.FromName(chain), s_nodes);

    [Fact]
    public void Implicit_placement_takes_datacenters_by_hash()
    {
        Assert.All(Enumerable.Range(0, 50), number =>
        {
            var wish = Wish(Placement.Implicit(2, 3), $"chain {number}");
            Assert.Equal(6, wish.Distinct().Count());
            Assert.Equal(2, wish.Select(member => member.Datacenter).Distinct().Count());
            Assert.Single(wish.Take(3).Select(member => member.Datacenter).Distinct());
        });
        Assert.Equal(3, Enumerable.Range(0, 50).Select(number =>
            Wish(Placement.Implicit(1, 1), $"chain {number}")[0].Datacenter).Distinct().Count());
    }

    [Fact]
    public void Explicit_placement_takes_these_datacenters_in_order()
    {
        var wish = Wish(Placement.Explicit(2, "west", "east"));
        Assert.Equal(["west", "west", "east", "east"], wish.Select(member => member.Datacenter));
    }

    [Fact]
    public void Sized_placement_takes_as_many_of_each()
    {
        var wish = Wish(Placement.Sized(new("north", 1), new("east", 3), new("west", 2)));
        Assert.Equal(["north", "east", "east", "east", "west", "west"], wish.Select(member => member.Datacenter));
    }

    [Fact]
    public void Size_zero_takes_all_nodes()
    {
        Assert.Equal(18, Wish(Placement.Implicit(0, 0)).Length);
        Assert.Equal(7, Wish(Placement.Sized(new("north", 1), new("east", 0))).Length);
        Assert.Equal(6, Wish(Placement.Explicit(0, "west")).Length);
    }

    [Fact]
    public void Master_datacenter_is_always_taken() => Assert.All(Enumerable.Range(0, 50), number =>
        Assert.Equal("north",
            Wish(Placement.Implicit(2, 1) with { Master = "north" }, $"chain {number}")[0].Datacenter));

    [Fact]
    public void Missing_nodes_are_left_out()
    {
        Assert.Equal(6, Wish(Placement.Explicit(9, "east")).Length);
        Assert.Empty(Wish(Placement.Explicit(9, "south")));
        Assert.Equal(64, PlacementRules.Wish(Placement.Implicit(0, 0), Known, Active(100).Values).Length);
    }

    [Fact]
    public void Lost_node_changes_only_chains_with_the_node_by_one_member_each()
    {
        var (changed, heirs) = (0, new HashSet<NodeId>());
        for (var i = 0; i < 1000; i++)
        {
            var chain = ChainId.FromName($"chain {i}");
            var before = PlacementRules.Wish(Placement.Implicit(1, 3), chain, Active(12).Values);
            var after = PlacementRules.Wish(Placement.Implicit(1, 3), chain, Active(12).Remove(Id(5)).Values);
            Assert.Equal(before.Where(member => member.Node != Id(5)), after.Where(before.Contains));
            if (before.All(member => member.Node != Id(5))) continue;
            changed++;
            heirs.Add(Assert.Single(after, member => !before.Contains(member)).Node);
        }

        // A quarter of the chains, spread over all others.
        Assert.InRange(changed, 150, 350);
        Assert.Equal(11, heirs.Count);
    }

    [Fact]
    public void Heads_and_tails_spread_over_the_nodes()
    {
        var wishes = Enumerable.Range(0, 1200).Select(number => PlacementRules.Wish(
            Placement.Implicit(1, 3), ChainId.FromName($"chain {number}"), Active(12).Values)).ToArray();
        Assert.All(Active(12).Keys, node =>
        {
            Assert.InRange(wishes.Count(wish => wish[0].Node == node), 50, 150);
            Assert.InRange(wishes.Count(wish => wish[2].Node == node), 50, 150);
        });
    }

    [Fact]
    public void Weights_are_the_same_in_every_version() => Assert.Equal(
        2755454610193621326UL, PlacementRules.Weight(ChainId.FromName("a"), Id(1)));

    // CRAQ 3.1: the least members are a majority by default, and what an operator says otherwise.
    [Theory]
    [InlineData(1, 0, 1)]
    [InlineData(2, 0, 1)]
    [InlineData(3, 0, 2)]
    [InlineData(4, 0, 3)]
    [InlineData(5, 0, 3)]
    [InlineData(7, 0, 4)]
    [InlineData(5, 1, 1)]
    [InlineData(5, 4, 4)]
    public void Least_members_default_to_the_majority(int size, int minimum, int expected)
    {
        var open = Open(Placement.Implicit(1, size) with { MinMembers = minimum }, ChainOptions.Default,
            [.. Active(size).Values]);
        Assert.Equal(expected, open.Config.Minimum);
    }

    [Fact]
    public void Placement_that_cannot_be_kept_is_refused()
    {
        Assert.Null(PlacementRules.Fault(Placement.Default));
        Assert.NotNull(PlacementRules.Fault(Placement.Implicit(-1, 3)));
        Assert.NotNull(PlacementRules.Fault(Placement.Implicit(1, 65)));
        Assert.NotNull(PlacementRules.Fault(Placement.Implicit(int.MaxValue, int.MaxValue)));
        Assert.NotNull(PlacementRules.Fault(Placement.Implicit(1, 3) with { MinMembers = 4 }));
        Assert.NotNull(PlacementRules.Fault(Placement.Explicit(2, "east", "east")));
        Assert.NotNull(PlacementRules.Fault(Placement.Explicit(2, "east") with { Master = "west" }));
        Assert.NotNull(PlacementRules.Fault(Placement.Explicit(2, "")));
        Assert.NotNull(PlacementRules.Fault(Placement.Sized(new PlacementGroup("east", -1))));
        Assert.NotNull(PlacementRules.Fault(new Placement(default)));
    }
}
