namespace Tango.ZooKeeper.Tests;

/// <summary>Reaping of empty container and TTL nodes, by the versions that an observer saw.</summary>
public sealed class ReapTests
{
    private readonly World _world = new(new TreeSettings(TtlNodes: true));

    [Fact]
    public void Empty_container_and_TTL_node_are_deleted()
    {
        _world.Do(Op.Container("/c"));
        _world.Do(Op.Ttl("/t", 1));
        var effect = _world.Do(Reap("/c", "/t"));
        Assert.Equal(["/c", "/t"], Assert.IsType<ReapResult>(effect.Result).Paths);
        Assert.Null(_world.Root.Find("/c"));
        Assert.Null(_world.Root.Find("/t"));
        Assert.Empty(_world.Root.ReapableNodes());
        Assert.Equal(
            [
                (TreeChangeKind.Deleted, "/c"), (TreeChangeKind.ChildrenChanged, "/"),
                (TreeChangeKind.Deleted, "/t"), (TreeChangeKind.ChildrenChanged, "/"),
            ],
            effect.Changes.Select(change => (change.Kind, change.Path)));
    }

    [Fact]
    public void Plain_node_is_kept()
    {
        _world.Create("/a");
        AssertKept(Reap("/a"), "/a");
    }

    [Fact]
    public void Node_with_children_is_kept()
    {
        _world.Do(Op.Container("/c"));
        _world.Create("/c/a");
        AssertKept(Reap("/c"), "/c");
    }

    // Z21.
    [Fact]
    public void Container_made_anew_is_kept()
    {
        _world.Do(Op.Container("/c"));
        var seen = Reap("/c");
        _world.Do(Op.Delete("/c"));
        _world.Do(Op.Container("/c"));
        AssertKept(seen, "/c");
    }

    [Fact]
    public void Container_used_since_is_kept()
    {
        _world.Do(Op.Container("/c"));
        var seen = Reap("/c");
        _world.Create("/c/a");
        _world.Do(Op.Delete("/c/a"));
        AssertKept(seen, "/c");
    }

    [Fact]
    public void TTL_node_written_since_is_kept()
    {
        _world.Do(Op.Ttl("/t", 1));
        var seen = Reap("/t");
        _world.Do(Op.Set("/t", "again"));
        AssertKept(seen, "/t");
    }

    [Fact]
    public void Missing_node_is_passed_over()
    {
        _world.Do(Op.Container("/b"));
        _world.Do(Op.Container("/c"));
        var seen = Reap("/b", "/c");
        _world.Do(Op.Delete("/b"));
        Assert.Equal(["/c"], Assert.IsType<ReapResult>(_world.Do(seen).Result).Paths);
    }

    private ReapRecord Reap(params ReadOnlySpan<string> paths)
    {
        var nodes = ImmutableArray.CreateBuilder<ReapedNode>();
        foreach (var path in paths) nodes.Add(ReapedNode.Of(_world.Node(path)));
        return new ReapRecord(nodes.ToImmutable());
    }

    private void AssertKept(ReapRecord record, string path)
    {
        var effect = _world.Do(record);
        Assert.Empty(Assert.IsType<ReapResult>(effect.Result).Paths);
        Assert.Empty(effect.Changes);
        Assert.NotNull(_world.Root.Find(path));
    }
}
