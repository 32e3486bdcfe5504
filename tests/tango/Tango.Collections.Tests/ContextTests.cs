using System.Collections.Immutable;

namespace Tango.Collections.Tests;

/// <summary>Objects that a context declares as properties.</summary>
public sealed partial class ContextTests
{
    [Fact]
    public async Task All_runtimes_share_the_objects_of_a_context()
    {
        await using var cluster = new Cluster();
        Board first = await Board.OpenAsync(cluster.NewRuntime());
        Board second = await Board.OpenAsync(cluster.NewRuntime());
        await first.Moved.AddAsync(3);
        Assert.Equal(3, await second.Moved.ReadAsync());
        Assert.Equal("board/Pending", second.Pending.ObjectName);
        ImmutableArray<DirectoryEntry> objects = await first.Runtime.Directory.ListAsync();
        Assert.Equal(["board/Done", "board/Moved", "board/Pending"], objects.Select(entry => entry.Name));
        Assert.All(objects, entry => Assert.Equal("board", entry.Group));
    }

    [Fact]
    public async Task Two_names_are_two_contexts()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        Board red = await Board.OpenAsync(runtime, "red");
        Board blue = await Board.OpenAsync(runtime, "blue");
        await red.Moved.AddAsync(1);
        Assert.Equal(("red", "blue"), (red.Name, blue.Name));
        Assert.Equal((1, 0), (await red.Moved.ReadAsync(), await blue.Moved.ReadAsync()));
    }

    [Fact]
    public async Task Without_a_group_each_object_is_opened_alone()
    {
        await using var cluster = new Cluster();
        Parts parts = await Parts.OpenAsync(cluster.NewRuntime());
        TangoCounter left = await cluster.NewRuntime().OpenAsync<TangoCounter>("parts/Left", OpenMode.Create);
        Assert.True((await parts.RunTransactionAsync(async _ =>
        {
            await parts.Left.AddAsync(1);
            await parts.Second.AddAsync(2);
        })).IsCommitted);
        Assert.Equal(1, await left.ReadAsync());
        Assert.All(await parts.Runtime.Directory.ListAsync(), entry => Assert.Null(entry.Group));
        Assert.Equal("parts/right", parts.Second.ObjectName);
    }

    [Fact]
    public async Task Transaction_that_never_commits_names_the_conflicting_write()
    {
        await using var cluster = new Cluster();
        Board board = await Board.OpenAsync(cluster.NewRuntime());
        Board other = await Board.OpenAsync(cluster.NewRuntime());
        TangoAbortedException exhausted = await Assert.ThrowsAsync<TangoAbortedException>(
            async () => await board.RunTransactionAsync(
                async _ =>
                {
                    await board.Done.TryGetAsync(7);
                    await other.Done.SetAsync(7, new Job(7, "another"));
                    await board.Moved.AddAsync(1);
                },
                new TransactionOptions { MaxAttempts = 2 }));
        Assert.Equal(
            "The transaction aborted 2 times, the last time because key 7 of 'board/Done' was written at "
            + $"{exhausted.Outcome.ConflictingWrite} after it had been read", exhausted.Message);
    }

    [Fact]
    public async Task Context_with_a_name_of_another_type_is_refused_and_opens_no_object()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        await runtime.OpenAsync<TangoQueue<Job>>("parts/Left", OpenMode.Create);
        TangoDirectoryException fault = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await Parts.OpenAsync(runtime));
        Assert.Contains("parts/Left", fault.Message, StringComparison.Ordinal);
        await Parts.OpenAsync(runtime, "others");
    }

    [TangoContext("parts", Group = false)]
    internal sealed partial class Parts : TangoContext
    {
        public partial TangoCounter Left { get; }

        [ObjectName("right")]
        public partial TangoCounter Second { get; }
    }
}
