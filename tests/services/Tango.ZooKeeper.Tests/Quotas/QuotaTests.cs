using CsCheck;

namespace Tango.ZooKeeper.Tests;

public sealed class QuotaTests
{
    private const string Limits = "/zookeeper/quota/a/zookeeper_limits";
    private const string Stats = "/zookeeper/quota/a/zookeeper_stats";

    private readonly World _world = new(new TreeSettings(EnforceQuota: true));

    [Fact]
    public void Node_of_use_shows_the_use_from_the_creation_on()
    {
        _world.Create("/a", data: "12345");
        _world.Create("/a/b", data: "123");
        _world.Create("/ab", data: "outside");
        SetQuota("count=10,bytes=100");
        Assert.Equal("count=2,bytes=8", Shown());
        Assert.Equal(0, _world.Stat(Stats).Version);
    }

    [Fact]
    public void Use_follows_creates_writes_and_deletes()
    {
        _world.Create("/a", data: null);
        SetQuota("");
        var before = _world.Stat(Stats);
        _world.Create("/a/b", data: "123");
        Assert.Equal("count=2,bytes=3", Shown());
        _world.Do(Op.Set("/a/b", "12345"));
        _world.Do(Op.Set("/a", "1"));
        Assert.Equal("count=2,bytes=6", Shown());
        _world.Do(Op.Set("/a/b", null));
        Assert.Equal("count=2,bytes=1", Shown());
        _world.Do(Op.Delete("/a/b"));
        Assert.Equal("count=1,bytes=1", Shown());
        // No version tells of it, and no watch.
        Assert.Equal(before, _world.Stat(Stats) with { DataLength = before.DataLength });
    }

    [Fact]
    public void End_of_a_session_and_a_reap_are_counted()
    {
        _world.Create("/a", data: null);
        SetQuota("");
        _world.StartSession();
        _world.Create("/a/e", CreateFlags.Ephemeral, "12");
        _world.Do(Op.Container("/a/c"));
        Assert.Equal("count=3,bytes=2", Shown());
        _world.Do(new CloseSessionOp());
        Assert.Equal("count=2,bytes=0", Shown());
        _world.Do(new ReapRecord([ReapedNode.Of(_world.Node("/a/c"))]));
        Assert.Equal("count=1,bytes=0", Shown());
    }

    [Fact]
    public void Longest_path_under_quota_counts()
    {
        _world.Create("/a", data: null);
        _world.Create("/a/b", data: null);
        SetQuota("");
        SetQuota("", "/a/b");
        _world.Create("/a/b/c", data: "12");
        _world.Create("/a/c", data: "1");
        Assert.Equal("count=3,bytes=1", Shown());
        Assert.Equal("count=2,bytes=2", Op.Text(_world.Node("/zookeeper/quota/a/b/zookeeper_stats")));
    }

    [Fact]
    public void Longest_path_is_found_among_many_and_by_whole_names()
    {
        string[] paths = ["/a", "/a/b", "/a/bb", "/a/b/c", "/aa", "/b", "/a-b"];
        var table = paths.Aggregate(QuotaTable.Empty, static (t, path) => t.Set(path, default));
        Assert.Equal("/a/b/c", table.LongestOver("/a/b/c/d/e"));
        Assert.Equal("/a/b", table.LongestOver("/a/b/cc"));
        Assert.Equal("/a", table.LongestOver("/a/bbb"));
        Assert.Equal("/a", table.LongestOver("/a"));
        Assert.Equal("/aa", table.LongestOver("/aa/b"));
        Assert.Null(table.LongestOver("/aaa"));
        Assert.Null(table.LongestOver("/"));
        Assert.Equal("/a", table.Remove("/a/b").LongestOver("/a/b/x"));
        // Deep as a request is long: the search makes no string of each ancestor.
        Assert.Equal("/a", table.LongestOver("/a" + string.Concat(Enumerable.Repeat("/x", 200_000))));
    }

    [Fact]
    public void Longest_path_is_that_of_a_search_through_all_ancestors()
    {
        // Few names, of which some begin alike or stand before a slash.
        string[] names = ["a", "a-", "aa", "b", "."];
        Gen.Int[0, 4].Array[1, 5].Select(name => "/" + string.Join('/', name.Select(i => names[i]))).Array[1, 40]
            .Sample(paths =>
            {
                var limited = paths[..(paths.Length / 2)];
                var table = limited.Aggregate(QuotaTable.Empty, static (t, path) => t.Set(path, default));
                foreach (var path in paths)
                {
                    var expected = limited.Where(over => (path + "/").StartsWith(over + "/", StringComparison.Ordinal))
                        .MaxBy(static over => over.Length);
                    Assert.Equal(expected, table.LongestOver(path));
                }
            });
    }

    /// <summary>A table that copied the paths for each quota made a restart from a checkpoint quadratic.</summary>
    [Fact]
    public void Further_quota_does_not_copy_the_paths_of_all_quotas()
    {
        var table = QuotaTable.Empty;
        for (var i = 0; i < 20_000; i++) table = table.Set($"/{i}", default);
        var before = GC.GetAllocatedBytesForCurrentThread();
        table = table.Set("/new", default);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 20_000);
        Assert.Equal(20_001, table.Count);
    }

    /// <summary>The content may be as long as a request: a write that read it each time cost as much.</summary>
    [Fact]
    public void Limits_are_parsed_at_a_write_of_the_limits_node()
    {
        _world.Create("/a", data: null);
        SetQuota(new string(',', 100_000) + "countHardLimit=2");
        _world.Create("/a/b");
        var table = _world.Root.Parts.Quotas;
        Assert.Equal(new QuotaLimits(2, -1), table.Find("/a")!.Value.Limits);
        var tree = new WorkingTree(_world.Root, 1, null);
        Assert.False(tree.IsWithinQuota("/a/c", 1, 0));
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.False(tree.IsWithinQuota("/a/c", 1, 0));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 20_000);

        _world.Do(Op.Set(Limits, "countHardLimit=3"));
        _world.Create("/a/c");
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Create("/a/d")));
        _world.Do(Op.Set(Limits, null));
        _world.Create("/a/d");
    }

    [Fact]
    public void Deleted_limits_end_the_quota()
    {
        _world.Create("/a", data: null);
        SetQuota("countHardLimit=1");
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Create("/a/b")));
        _world.Do(Op.Delete(Limits));
        _world.Create("/a/b");
        Assert.Equal("count=1,bytes=0", Shown());
    }

    [Fact]
    public void Hard_limits_are_enforced_where_the_setting_says_so()
    {
        _world.Create("/a", data: "12");
        SetQuota("count=-1,bytes=-1=;byteHardLimit=5;countHardLimit=2");
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Create("/a/b", data: "1234")));
        _world.Create("/a/b", data: "123");
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Create("/a/c", data: null)));
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Set("/a/b", "1234")));
        _world.Do(Op.Set("/a/b", "abc"));
        Assert.Equal("count=2,bytes=5", Shown());
        _world.Do(new ConfigureRecord(null, null, EnforceQuota: false));
        _world.Create("/a/c", data: "beyond");
        Assert.Equal("count=3,bytes=11", Shown());
        // Beyond the limit any other size is refused, also a smaller one, as in ZooKeeper.
        _world.Do(new ConfigureRecord(null, null, EnforceQuota: true));
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Set("/a/c", "beyon")));
        _world.Do(Op.Set("/a/c", "BEYOND"));
        _world.Do(Op.Delete("/a/c"));
    }

    [Fact]
    public void Quota_is_looked_at_after_the_ephemeral_parent_and_before_the_version()
    {
        _world.Create("/a", data: "1");
        SetQuota("byteHardLimit=1");
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Set("/a", "12", version: 9)));
        Assert.Equal(ZooKeeperError.NodeExists, _world.Error(Op.Create("/a", data: "12")));
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("countHardLimit")]
    [InlineData("countHardLimit=;byteHardLimit=x")]
    [InlineData("count=1,bytes=1")]
    public void Soft_limits_and_limits_without_a_number_are_not_enforced(string limits)
    {
        _world.Create("/a", data: null);
        SetQuota(limits);
        _world.Create("/a/b", data: "12345");
        Assert.Equal("count=2,bytes=5", Shown());
    }

    [Fact]
    public void Failed_multi_leaves_the_use()
    {
        _world.Create("/a", data: null);
        SetQuota("countHardLimit=3");
        _world.Apply(new MultiOp([Op.Create("/a/b"), Op.Create("/a/c"), Op.Create("/a/d")]));
        Assert.Equal("count=1,bytes=0", Shown());
    }

    /// <summary>Each measures all nodes below: a multi of thousands of quotas would stop playback for hours.</summary>
    [Fact]
    public void Record_that_has_measured_many_nodes_creates_no_further_quota()
    {
        string[] names = ["a", "b", "c"];
        foreach (var name in names)
        {
            _world.Create($"/{name}");
            _world.Create($"/zookeeper/quota/{name}");
        }

        var below = Enumerable.Range(1, WorkingTree.MaxMeasured - 1);
        _world.Apply(new MultiOp([.. below.Select(static i => Op.Create($"/a/{i}"))]));
        NodeOp[] limits = [.. names.Select(static name => Op.Create($"/zookeeper/quota/{name}/zookeeper_limits"))];
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(new MultiOp([limits[0], limits[1]])));
        Assert.Equal(ZooKeeperError.Ok, _world.Error(new MultiOp([limits[1], limits[2], limits[0]])));
        Assert.Equal(WorkingTree.MaxMeasured, _world.Root.Parts.Quotas.Find("/a")!.Value.Usage.Count);
    }

    [Fact]
    public void Root_has_no_quota()
    {
        _world.Create("/zookeeper/quota/zookeeper_limits", data: "countHardLimit=1");
        _world.Create("/zookeeper/quota/zookeeper_stats", data: "mine");
        _world.Create("/b");
        Assert.Equal("mine", Op.Text(_world.Node("/zookeeper/quota/zookeeper_stats")));
    }

    [Fact]
    public void Use_comes_back_from_a_checkpoint()
    {
        _world.Create("/a", data: "12");
        SetQuota("countHardLimit=2");
        _world.Reload();
        _world.Create("/a/b", data: "3");
        Assert.Equal("count=2,bytes=3", Shown());
        Assert.Equal(ZooKeeperError.QuotaExceeded, _world.Error(Op.Create("/a/c")));
    }

    private string? Shown() => Op.Text(_world.Node(Stats));

    // As zkCli does.
    private void SetQuota(string limits, string path = "/a")
    {
        var at = "/zookeeper/quota";
        foreach (var name in path[1..].Split('/'))
        {
            at += "/" + name;
            if (_world.Root.Find(at) is null) _world.Create(at, data: "");
        }

        _world.Create(at + "/zookeeper_limits", data: limits);
        _world.Create(at + "/zookeeper_stats", data: "count=0,bytes=0");
    }
}
