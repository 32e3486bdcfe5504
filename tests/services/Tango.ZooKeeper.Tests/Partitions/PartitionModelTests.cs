namespace Tango.ZooKeeper.Tests;

/// <summary>A service with partitions, and one of a single tree: the same requests have the same results, and leave the
/// same nodes.</summary>
public sealed class PartitionModelTests
{
    private static readonly string[] s_paths =
        ["/", "/a", "/a/x", "/a/y", "/a/x/z", "/b", "/b/x", "/b/c", "/b/c/x", "/x", "/x/y"];

    private static readonly string[] s_mounts = ["/a", "/b", "/b/c"];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Partitions_are_no_difference_to_requests(int seed)
    {
        var random = new Random(seed);
        await using var service = await PartitionWorld.StartAsync(s_mounts);
        var plain = new World();
        plain.StartSession(PartitionWorld.Session);
        foreach (var mount in s_mounts) plain.Create(mount, data: null);
        var crossing = 0;
        for (var i = 0; i < 300; i++)
        {
            TreeOp op = random.Next(3) == 0
                ? new MultiOp([.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => Next(random, true))])
                : Next(random, false);
            var expected = plain.Error(op);
            var root = await service.Trees.Root.ReadAsync();
            if (op is MultiOp multi && TreePartitions.PartitionsOf(root, multi).Count > 1)
            {
                crossing++;
                Assert.Equal(expected, (await service.MultiAsync(multi.Parts)).Failure?.Error ?? ZooKeeperError.Ok);
            }
            else
            {
                Assert.Equal(expected, await service.ErrorAsync(op));
            }
        }

        Assert.True(crossing > 20);
        Assert.Equal(Nodes(plain.Root, static _ => true), await NodesAsync(service));
    }

    // A mount is never deleted, which a plain node may be. A check stands in a multi only.
    private static NodeOp Next(Random random, bool mayCheck)
    {
        var path = s_paths[random.Next(s_paths.Length)];
        var version = random.Next(4) - 1;
        return random.Next(6) switch
        {
            0 or 1 => Op.Create(path, (CreateFlags)random.Next(4)),
            2 when !s_mounts.Contains(path) => Op.Delete(path, version),
            3 when mayCheck => new CheckOp(path, version),
            4 => Op.Create(path == "/" ? "/n-" : path + "/n-", CreateFlags.Sequential),
            _ => Op.Set(path, $"{random.Next(100)}", version),
        };
    }

    private static async Task<List<string>> NodesAsync(PartitionWorld service)
    {
        var nodes = new List<string>();
        foreach (var (mount, tree) in service.Trees.Hosted)
        {
            var root = await tree.ReadAsync();
            nodes.AddRange(Nodes(root, node => root.PartitionOf(node.Path) == mount));
        }

        nodes.Sort(StringComparer.Ordinal);
        return nodes;
    }

    private static List<string> Nodes(TreeRoot root, Func<ZNode, bool> isOwn)
    {
        var nodes = root.Subtree("/").Where(isOwn).Select(static node =>
            $"{node.Path} {Op.Text(node)} {node.Version} {node.Aversion} {node.Creates} {node.ChildCount} {node.Owner}")
            .ToList();
        nodes.Sort(StringComparer.Ordinal);
        return nodes;
    }
}
