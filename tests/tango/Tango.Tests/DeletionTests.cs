using Corfu;

namespace Tango.Tests;

/// <summary>A deletion is one record, in the streams of the directory and of all that it deletes.</summary>
public class DeletionTests
{
    [Fact]
    public async Task Handles_fail_typed_everywhere_and_the_name_is_free_for_another_object()
    {
        await using var world = new World();
        var (first, accounts) = await world.OpenAccountsAsync();
        var (second, same) = await world.OpenAccountsAsync();
        var writer = world.NewRuntime();
        var unseen = await writer.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        await accounts.SetAsync("x", 1);

        await first.Directory.DeleteAsync("accounts");
        var told = await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await accounts.BalanceAsync("x"));
        Assert.Equal(("accounts", ObjectId.FirstUser), (told.ObjectName, told.ObjectId));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await accounts.SetAsync("x", 2));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await same.BalanceAsync("x"));
        await writer.SyncAsync();
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await unseen.SetAsync("x", 2));
        Assert.Empty(await second.Directory.ListAsync());
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await second.Directory.DeleteAsync("accounts"));

        var again = await second.OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.Equal(0, await again.BalanceAsync("x"));
        await again.SetAsync("x", 5);
        var third = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.Equal(5, await third.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await same.BalanceAsync("x"));
        Assert.Equal(257UL, (await second.Directory.ListAsync())[0].Id.Value);
    }

    [Fact]
    public async Task A_group_is_deleted_as_a_whole()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts a = null!, b = null!;
        await runtime.OpenGroupAsync("group", group =>
        {
            a = group.Add<Accounts>("a");
            b = group.Add<Accounts>("b");
        });
        var refused = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.Directory.DeleteAsync("a"));
        Assert.Contains("is the first member of the group 'group'", refused.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await runtime.Directory.DeleteAsync("none"));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.Directory.DeleteGroupAsync("none"));
        await a.SetAsync("x", 1);
        await runtime.Directory.DeleteGroupAsync("group");
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await a.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await b.BalanceAsync("x"));
        Assert.Empty(await runtime.Directory.ListAsync());
        // Members may be others now.
        await runtime.OpenGroupAsync("group", group => b = group.Add<Accounts>("b"));
        Assert.Equal(0, await b.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_transaction_that_read_a_deleted_object_aborts_at_every_host()
    {
        await using var world = new World();
        var (runtime, read) = await world.OpenAccountsAsync("read");
        var written = await runtime.OpenAsync<Accounts>("written", OpenMode.Create);
        var (other, there) = await world.OpenAccountsAsync("written");
        var transaction = await HeldTransaction.BeginAsync(
            runtime, async () => await written.SetAsync("x", 1 + await read.BalanceAsync("x")));
        await other.Directory.DeleteAsync("read");
        var outcome = await transaction.EndTxAsync();
        Assert.IsType<TxOutcome.Aborted>(outcome);
        Assert.Equal(0, await written.BalanceAsync("x"));
        Assert.Equal(0, await there.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await read.BalanceAsync("x"));
    }

    [Fact]
    public async Task The_record_is_in_the_streams_of_all_members()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        await runtime.OpenGroupAsync("group", group =>
        {
            group.Add<Accounts>("a");
            group.Add<Accounts>("b");
        });
        await runtime.Directory.DeleteGroupAsync("group");
        var entry = (await world.Log.ReadManyAsync([await world.TailAsync() + -1]))[0].Entry!;
        Assert.Equal([1UL, 256, 257], entry.Streams.Select(header => header.Stream.Value));
    }
}
