namespace Tango.ZooKeeper.Tests;

/// <summary>Sequential nodes, and the counter of the parent that they and the shown cversion come from.</summary>
public sealed class SequenceTests
{
    private readonly World _world = new();

    [Fact]
    public void Suffix_counts_all_creates_below_the_parent()
    {
        _world.Create("/q");
        Assert.Equal("/q/n-0000000000", _world.Create("/q/n-", CreateFlags.Sequential));
        _world.Create("/q/other");
        _world.Do(Op.Delete("/q/other"));
        Assert.Equal("/q/n-0000000002", _world.Create("/q/n-", CreateFlags.Sequential));
        Assert.Equal("/q/0000000003", _world.Create("/q/", CreateFlags.Sequential));
    }

    [Fact]
    public void Sequence_below_the_root_begins_at_zero() =>
        Assert.Equal("/0000000000", _world.Create("/", CreateFlags.Sequential));

    [Fact]
    public void Failed_create_is_not_counted()
    {
        _world.Create("/q");
        _world.Create("/q/a");
        Assert.Equal(ZooKeeperError.NodeExists, _world.Error(Op.Create("/q/a")));
        Assert.Equal("/q/0000000001", _world.Create("/q/", CreateFlags.Sequential));
    }

    [Fact]
    public void Existing_sequential_node_is_not_created_again()
    {
        _world.Create("/q");
        _world.Create("/q/0000000001");
        Assert.Equal(ZooKeeperError.NodeExists, _world.Error(Op.Create("/q/", CreateFlags.Sequential)));
    }

    [Theory]
    [InlineData(0, "0000000000")]
    [InlineData(int.MaxValue, "2147483647")]
    [InlineData(int.MinValue, "-2147483648")]
    [InlineData(-1, "-000000001")]
    [InlineData(-12345, "-000012345")]
    public void Suffix_has_ten_characters_as_the_counter_wraps(int creates, string suffix) =>
        Assert.Equal(suffix, NodePath.SuffixOf(creates));

    [Fact]
    public void Counter_of_creates_wraps()
    {
        _world.Create("/q");
        _world.LoadNode("/q", counters => counters with { Creates = int.MaxValue });
        Assert.Equal("/q/2147483647", _world.Create("/q/", CreateFlags.Sequential));
        Assert.Equal("/q/-2147483648", _world.Create("/q/", CreateFlags.Sequential));
        // 2 x creates - children, in 32 bits.
        Assert.Equal(unchecked(2 * (int.MinValue + 1) - 2), _world.Stat("/q").Cversion);
    }

    [Fact]
    public void Shown_cversion_counts_creates_and_deletes()
    {
        _world.Create("/q");
        var shown = new List<int>();
        for (var i = 0; i < 3; i++)
        {
            _world.Create($"/q/{i}");
            shown.Add(_world.Stat("/q").Cversion);
        }

        foreach (var name in (string[])["0", "2"])
        {
            _world.Do(Op.Delete($"/q/{name}"));
            shown.Add(_world.Stat("/q").Cversion);
        }

        Assert.Equal([1, 2, 3, 4, 5], shown);
    }

    [Fact]
    public void Service_nodes_were_never_created_by_a_client() => Assert.Equal(-1, _world.Stat("/").Cversion);
}
