using Salus.Coordination.Tests.Support;

namespace Salus.Coordination.Tests;

public sealed class RegionPlacementTests
{
    private static readonly VolumeId s_volume = TestVolume.Id;

    [Fact]
    public void Members_are_of_different_domains_where_there_are_enough()
    {
        var nodes = Enumerable.Range(0, 12).Select(number => Node(number, $"rack{number % 3}")).ToArray();
        for (var region = 0; region < 50; region++)
            Assert.Equal(3, Choose(region, nodes).DistinctBy(node => node.Domain).Count());
        var narrow = Enumerable.Range(0, 6).Select(number => Node(number, $"rack{number % 2}")).ToArray();
        Assert.Equal(3, Choose(1, narrow).DistinctBy(node => node.Store).Count());
        Assert.Equal(2, Choose(1, nodes[..2]).Length);
    }

    [Fact]
    public void Member_that_is_gone_changes_the_regions_that_had_the_node_alone()
    {
        var nodes = Enumerable.Range(0, 8).Select(number => Node(number)).ToArray();
        for (var region = 0; region < 200; region++)
        {
            var before = Choose(region, nodes);
            var after = Choose(region, [.. nodes[1..], nodes[0] with { State = BookedState.Gone }]);
            Assert.Equal(before.Where(node => node != nodes[0]), after.Take(before.Count(node => node != nodes[0])));
        }
    }

    [Fact]
    public void Emptier_stores_get_more_regions()
    {
        var nodes = Enumerable.Range(0, 4).Select(number => Node(number, free: number == 0 ? 4000 : 1000)).ToArray();
        var counts = new int[4];
        for (var region = 0; region < 2000; region++)
        {
            var chosen = RegionPlacement.Choose(new RegionKey(s_volume, region), 1, nodes, [], _ => false)[0];
            counts[Array.IndexOf(nodes, chosen)]++;
        }

        Assert.InRange(counts[0], 3 * counts[1], 6 * counts[1]);
    }

    [Fact]
    public void Staying_members_keep_the_order_and_accused_nodes_come_last()
    {
        var nodes = Enumerable.Range(0, 6).Select(number => Node(number)).ToArray();
        var chosen = RegionPlacement.Choose(new RegionKey(s_volume, 0), 3, nodes,
            [nodes[4].Incarnation, TestVolume.Name(99), nodes[1].Incarnation], node => node != nodes[5]);
        Assert.Equal([nodes[4], nodes[1], nodes[5]], chosen);
        Assert.Equal(3, RegionPlacement.Choose(new RegionKey(s_volume, 0), 3, nodes, [], _ => true).Length);
    }

    private static ImmutableArray<BookedNode> Choose(int region, BookedNode[] nodes) =>
        RegionPlacement.Choose(new RegionKey(s_volume, region), 3, nodes, [], _ => false);

    private static BookedNode Node(int number, string domain = "", long free = 1000) =>
        new(TestVolume.Store(number), TestVolume.Name(number), new NodeEndpoint("127.0.0.1", 4000 + number), domain,
            free, BookedState.Live, number);
}
