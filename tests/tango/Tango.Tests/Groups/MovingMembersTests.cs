namespace Tango.Tests.Groups;

/// <summary>Members that get a view, or a name, while something else is on its way.</summary>
public class MovingMembersTests
{
    /// <summary>The transaction's snapshot has the member without a view.</summary>
    [Fact]
    public async Task A_transaction_moves_on_to_the_view_that_a_member_got_meanwhile()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var unknown = await Group.OpenUnknownAsync(world.NewRuntime());
        await unknown.PutAsync(3);
        await older.Runtime.SyncAsync();
        await using var moves = older.Runtime.BeginTx(new TransactionOptions { Explicit = true });
        await using var aborts = older.Runtime.BeginTx(new TransactionOptions { Explicit = true });
        await moves.Use(older.First).BalanceAsync("x");
        await aborts.Use(older.Second).BalanceAsync("x");
        var named = await older.Runtime.OpenAsync<Fragile>("unknown");
        await moves.Use(older.Second).SetAsync("x", await moves.Use(named).SumAsync());
        Assert.True((await moves.EndTxAsync()).IsCommitted);
        Assert.Equal(3, await older.Second.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoConflictException>(async () => await aborts.Use(named).SumAsync());
    }

    /// <summary>The group's first member gets the name between the look at the group and the addition.</summary>
    [Fact]
    public async Task A_member_that_gets_the_name_meanwhile_is_the_one_that_is_opened()
    {
        Func<ValueTask>? between = null;
        await using var world = new World(new Testing.InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (Interlocked.Exchange(ref between, null) is { } act) await act();
            },
        });
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var other = await Group.OpenOlderAsync(world);
        between = async () => await other.Runtime.Directory.RenameAsync("first", "renamed");
        Accounts renamed = null!;
        await older.Runtime.OpenGroupAsync("group", group =>
        {
            renamed = group.Add<Accounts>("renamed");
            group.Add<Accounts>("second");
        });
        Assert.Equal(1, await renamed.BalanceAsync("x"));
        Assert.Equal(2, (await older.Runtime.Directory.ListAsync()).Length);
    }
}
