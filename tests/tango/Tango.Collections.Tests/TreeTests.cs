namespace Tango.Collections.Tests;

/// <summary>Which operations of a tree conflict, and what it refuses.</summary>
public sealed class TreeTests
{
    private static readonly TransactionOptions s_explicit = new() { Explicit = true };

    [Fact]
    public Task Creations_beside_each_other_do_not_conflict() => OverlapAsync(
        tree => tree.CreateAsync("/d/x", 0), tree => tree.CreateAsync("/d/y", 0), conflict: false);

    [Fact]
    public Task A_listing_conflicts_with_a_creation_in_that_directory() => OverlapAsync(
        tree => tree.ChildrenAsync("/d"), tree => tree.CreateAsync("/d/y", 0), conflict: true);

    [Fact]
    public Task A_listing_does_not_conflict_with_a_creation_farther_below() => OverlapAsync(
        tree => tree.ChildrenAsync("/d"), tree => tree.CreateAsync("/d/e/y", 0), conflict: false);

    [Fact]
    public Task A_listing_does_not_conflict_with_a_new_value() => OverlapAsync(
        tree => tree.ChildrenAsync("/d"), tree => tree.SetAsync("/d/e", 1), conflict: false);

    [Fact]
    public Task A_deletion_conflicts_with_the_creation_of_a_child() => OverlapAsync(
        tree => tree.DeleteAsync("/d/e"), tree => tree.CreateAsync("/d/e/y", 0), conflict: true);

    [Fact]
    public Task Creation_conflicts_with_the_deletion_of_the_parent() => OverlapAsync(
        tree => tree.CreateAsync("/d/e/y", 0), tree => tree.DeleteAsync("/d/e"), conflict: true);

    [Fact]
    public Task A_move_conflicts_with_a_creation_deep_in_the_subtree() => OverlapAsync(
        tree => tree.MoveAsync("/d", "/moved"), tree => tree.CreateAsync("/d/e/y", 0), conflict: true);

    [Fact]
    public Task A_move_does_not_conflict_with_changes_elsewhere() => OverlapAsync(
        tree => tree.MoveAsync("/d", "/moved"), tree => tree.SetAsync("/other", 1), conflict: false);

    [Fact]
    public async Task A_move_by_itself_is_one_change()
    {
        await using var cluster = new Cluster();
        var tree = await cluster.OpenAsync<TangoTree<int>>();
        await FillAsync(tree);
        Assert.Equal(TreeOutcome.Done, await tree.MoveAsync("/d", "/moved"));
        var other = await cluster.OpenAsync<TangoTree<int>>();
        var paths = (await other.SnapshotAsync()).Keys.Order(StringComparer.Ordinal);
        Assert.Equal(["/moved", "/moved/e", "/other"], paths);
        Assert.Empty(await other.ChildrenAsync("/d"));
    }

    [Fact]
    public async Task Operation_belongs_to_the_surrounding_transaction()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var tree = await runtime.OpenAsync<TangoTree<int>>("tree", OpenMode.Create);
        await using (runtime.BeginTx())
        {
            Assert.Equal(TreeOutcome.Done, await tree.CreateAsync("/a", 1));
            Assert.Equal(TreeOutcome.Done, await tree.CreateAsync("/a/b", 1));
            Assert.True(await tree.ExistsAsync("/a/b"));
        }

        Assert.Equal(0, await tree.CountAsync());
    }

    [Fact]
    public async Task A_past_state_is_listed_and_not_changed()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var tree = await runtime.OpenAsync<TangoTree<int>>("tree", OpenMode.Create);
        await FillAsync(tree);
        var history = await runtime.History.OpenAsync(await runtime.Checkpoints.WriteAsync(tree));
        await tree.DeleteSubtreeAsync("/d");
        var past = await history.OpenAsync<TangoTree<int>>("tree");
        Assert.Equal(2, (await past.SubtreeAsync("/d")).Length);
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await past.CreateAsync("/d/new", 1));
    }

    [Theory]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("/a/")]
    [InlineData("/a//b")]
    [InlineData("//")]
    public async Task Malformed_path_is_refused(string path)
    {
        await using var cluster = new Cluster();
        var tree = await cluster.OpenAsync<TangoTree<int>>();
        await Assert.ThrowsAsync<ArgumentException>(async () => await tree.CreateAsync(path, 1));
        await Assert.ThrowsAsync<ArgumentException>(async () => await tree.TryGetAsync(path));
    }

    [Fact]
    public async Task The_root_is_there_and_cannot_be_changed()
    {
        await using var cluster = new Cluster();
        var tree = await cluster.OpenAsync<TangoTree<int>>();
        Assert.True(await tree.ExistsAsync("/"));
        await Assert.ThrowsAsync<ArgumentException>(async () => await tree.DeleteSubtreeAsync("/"));
        await Assert.ThrowsAsync<ArgumentException>(async () => await tree.SetAsync("/", 1));
    }

    private static async Task FillAsync(TangoTree<int> tree)
    {
        foreach (string path in new[] { "/d", "/d/e", "/other" })
            Assert.Equal(TreeOutcome.Done, await tree.CreateAsync(path, 0));
    }

    // The first one's transaction also writes elsewhere, so that it does not commit as one that only reads.
    private static async Task OverlapAsync<T>(
        Func<TangoTree<int>, ValueTask<T>> first, Func<TangoTree<int>, ValueTask<TreeOutcome>> second, bool conflict)
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var tree = await runtime.OpenAsync<TangoTree<int>>("tree", OpenMode.Create);
        await FillAsync(tree);
        await using TangoTransaction tx = runtime.BeginTx(s_explicit);
        await first(tx.Use(tree));
        Assert.Equal(TreeOutcome.Done, await tx.Use(tree).CreateAsync("/mark", 0));
        Assert.Equal(TreeOutcome.Done, await second(tree));
        Assert.Equal(!conflict, (await tx.EndTxAsync()).IsCommitted);
    }
}
