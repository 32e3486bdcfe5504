using Corfu;

namespace Tango.Tests.Groups;

/// <summary>R20: groups grow by new, empty members, which each host plays from their births on.</summary>
public class GrowingGroupTests
{
    [Fact]
    public async Task Missing_member_is_added_empty_at_all_hosts()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var newer = await Group.OpenNewerAsync(world);
        Assert.Equal((1, 0), (await newer.First.BalanceAsync("x"), await newer.Late!.BalanceAsync("x")));
        await newer.Late.SetAsync("x", 2);
        Assert.Equal(2, await (await older.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("x"));
        var same = await Group.OpenNewerAsync(world);
        Assert.Equal(2, await same.Late!.BalanceAsync("x"));

        var entries = await older.Runtime.Directory.ListAsync();
        Assert.Equal(["first", "late", "second"], entries.Select(static entry => entry.Name));
        Assert.All(entries, static entry => Assert.Equal("group", entry.Group));
        Assert.Equal([false, true, false], entries.Select(static entry => entry.Birth is not null));
    }

    /// <summary>The stream of the new member joins the others before a later entry of theirs is played. Without that,
    /// playback ends at the birth, and a read misses what was acknowledged.</summary>
    [Fact]
    public async Task A_host_that_plays_the_birth_goes_on_to_the_tail()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        for (var i = 1; i < 4; i++) await newer.Late!.SetAsync($"{i}", i);
        await newer.First.SetAsync("x", 5);
        Assert.Equal(5, await older.First.BalanceAsync("x"));
        Assert.Equal(3, await (await older.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("3"));
    }

    /// <summary>Transactions over the group have no decision records, so that each host needs the new member's
    /// versions, from the first on.</summary>
    [Fact]
    public async Task Hosts_that_were_behind_decide_alike()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        var other = await Group.OpenNewerAsync(world);
        var held = await HeldTransaction.BeginAsync(newer.Runtime, async () =>
            await newer.First.SetAsync("x", 1 + await newer.Late!.BalanceAsync("x")));
        await other.Late!.SetAsync("x", 9);
        Assert.IsType<TxOutcome.Aborted>(await held.EndTxAsync());
        var outcome = await newer.Runtime.RunTransactionAsync(async _ =>
        {
            var late = await newer.Late!.BalanceAsync("x");
            await newer.Late.SetAsync("x", late + 1);
            await newer.Second.SetAsync("x", late);
        });
        Assert.True(outcome.IsCommitted);
        var late = await older.Runtime.OpenAsync<Accounts>("late");
        foreach (var (first, second, third) in new[]
        {
            (older.First, older.Second, late), (newer.First, newer.Second, newer.Late!),
            (other.First, other.Second, other.Late!),
        })
        {
            Assert.Equal(0, await first.BalanceAsync("x"));
            Assert.Equal(9, await second.BalanceAsync("x"));
            Assert.Equal(10, await third.BalanceAsync("x"));
        }
    }

    /// <summary>R18: the birth writes the member as a whole.</summary>
    [Fact]
    public async Task A_transaction_from_before_the_birth_moves_on_or_aborts()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await using var moves = older.Runtime.BeginTx(new TransactionOptions { Explicit = true });
        await using var aborts = older.Runtime.BeginTx(new TransactionOptions { Explicit = true });
        await moves.Use(older.First).BalanceAsync("x");
        await aborts.Use(older.First).BalanceAsync("x");
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 1);
        var late = await older.Runtime.OpenAsync<Accounts>("late");
        await moves.Use(older.Second).SetAsync("x", await moves.Use(late).BalanceAsync("x"));
        Assert.True((await moves.EndTxAsync()).IsCommitted);
        await newer.First.SetAsync("x", 2);
        await older.Runtime.SyncAsync();
        await Assert.ThrowsAsync<TangoConflictException>(async () => await aborts.Use(late).BalanceAsync("x"));
        Assert.Equal(1, await newer.Second.BalanceAsync("x"));
    }

    [Fact]
    public async Task Member_of_unknown_type_is_played_without_a_view_until_opened_by_type()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var runtime = world.NewRuntime();
        var unknown = await Group.OpenUnknownAsync(runtime);
        var first = await runtime.OpenAsync<Accounts>("first");
        await unknown.PutAsync(3);
        var held = await HeldTransaction.BeginAsync(
            runtime, async () => await first.SetAsync("lost", await unknown.SumAsync()));
        await unknown.PutAsync(4);
        Assert.False((await held.EndTxAsync()).IsCommitted);
        Assert.True((await runtime.RunTransactionAsync(
            async _ => await first.SetAsync("sum", await unknown.SumAsync()))).IsCommitted);
        Assert.Equal((0, 7), (await older.First.BalanceAsync("lost"), await older.First.BalanceAsync("sum")));

        // Only programs that have all views make checkpoints.
        var e = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.Checkpoints.WriteAsync(older.First));
        Assert.Contains("test-fragile", e.Message, StringComparison.Ordinal);
        var wrong = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.OpenAsync<Accounts>("unknown"));
        Assert.Contains("test-fragile", wrong.Message, StringComparison.Ordinal);

        var named = await older.Runtime.OpenAsync<Fragile>("unknown");
        Assert.Equal(7, await named.SumAsync());
        await named.PutAsync(1);
        Assert.Equal((8, 8), (await named.SumAsync(), await unknown.SumAsync()));
        await older.First.SetAsync("sum", 8);
        await older.Runtime.Checkpoints.WriteAsync(older.First);
        Assert.Equal(8, await (await world.NewRuntime().OpenAsync<Accounts>("first")).BalanceAsync("sum"));
    }

    [Fact]
    public async Task One_member_is_opened_without_the_types_of_the_other_members()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await Group.OpenUnknownAsync(older.Runtime);
        await older.First.SetAsync("x", 1);
        var runtime = world.NewRuntime();
        var unknown = await runtime.OpenAsync<Fragile>("unknown");
        await unknown.PutAsync(2);
        var remote = await world.NewRuntime().OpenRemoteAsync<Accounts>("first");
        Assert.Equal((2, 1), (await unknown.SumAsync(), await remote.BalanceAsync("x")));
        var first = await runtime.OpenAsync<Accounts>("first");
        Assert.Equal((2, 1), (await unknown.SumAsync(), await first.BalanceAsync("x")));
    }

    [Fact]
    public async Task Checkpoints_have_the_members_that_were_born_below()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        await older.Runtime.Checkpoints.WriteAsync(older.First);
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 2);
        // From the checkpoint below the birth.
        var before = await Group.OpenNewerAsync(world);
        Assert.Equal((1, 2), (await before.First.BalanceAsync("x"), await before.Late!.BalanceAsync("x")));
        await before.Runtime.Checkpoints.WriteAsync(before.Late!);
        await newer.Late.SetAsync("y", 3);
        // From the one above; nothing below can be read any more.
        await world.Log.TrimPrefixAsync(await TrimEndAsync(before));
        var after = await Group.OpenNewerAsync(world);
        Assert.Equal((1, 2), (await after.First.BalanceAsync("x"), await after.Late!.BalanceAsync("x")));
        Assert.Equal(3, await after.Late.BalanceAsync("y"));
    }

    /// <summary>R22: what the runtime fell behind is trimmed, the birth too. It learns of the member from the
    /// directory, when a checkpoint has more members than it knows.</summary>
    [Fact]
    public async Task A_host_whose_history_was_trimmed_beyond_the_birth_starts_from_a_newer_checkpoint()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var remote = world.NewRuntime();
        var stale = await remote.OpenRemoteAsync<Accounts>("first");
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 2);
        await newer.First.SetAsync("x", 3);
        await world.Log.TrimPrefixAsync(await TrimEndAsync(newer));
        Assert.Equal(3, await older.First.BalanceAsync("x"));
        Assert.Equal(2, await (await older.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("x"));
        Assert.Equal(3, await stale.BalanceAsync("x"));
    }

    private static async Task<LogPosition> TrimEndAsync(Group group)
    {
        var end = await group.Runtime.Checkpoints.WriteAsync(group.First);
        await group.Runtime.Checkpoints.WriteDirectoryAsync();
        return end;
    }
}
