using Tango.Checkpoints;
using Tango.Model;
using Tango.Tests.Checkpoints;

namespace Tango.Tests.Forks;

/// <summary>R18: a fork counts as written as a whole where its id was given, and not before.</summary>
public class ForkTransactionTests
{
    [Fact]
    public async Task Source_and_fork_in_one_transaction()
    {
        await using var world = new World();
        var (runtime, accounts, fork) = await ForkAsync(world);
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            var sum = await accounts.BalanceAsync("a") + await fork.BalanceAsync("a");
            await accounts.SetAsync("sum", sum);
            await fork.SetAsync("sum", sum + (await fork.SnapshotAsync()).Count);
        });
        Assert.True(outcome.IsCommitted);
        var late = world.NewRuntime();
        Assert.Equal(2, await (await late.OpenAsync<Accounts>("accounts", OpenMode.Create)).BalanceAsync("sum"));
        Assert.Equal(3, await (await late.OpenAsync<Accounts>("fork")).BalanceAsync("sum"));
    }

    /// <summary>Reads of keys that were never written since, and of keys that were.</summary>
    [Theory]
    [InlineData("a", "a", false)]
    [InlineData("a", "b", true)]
    [InlineData("new", "new", false)]
    [InlineData("new", "a", true)]
    public async Task Reads_of_a_fork_conflict_with_later_writes(string read, string written, bool commits)
    {
        await using var world = new World();
        var (runtime, accounts, fork) = await ForkAsync(world);
        var other = await world.NewRuntime().OpenAsync<Accounts>("fork");
        var held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("x", await fork.BalanceAsync(read)));
        await other.SetAsync(written, 5);
        Assert.Equal(commits, (await held.EndTxAsync()).IsCommitted);
        held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("x", await fork.BalanceAsync(read)));
        Assert.True((await held.EndTxAsync()).IsCommitted);
    }

    [Fact]
    public async Task A_read_of_the_whole_conflicts_with_any_write_since()
    {
        await using var world = new World();
        var (runtime, accounts, fork) = await ForkAsync(world);
        var held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("x", (await fork.SnapshotAsync()).Count));
        Assert.True((await held.EndTxAsync()).IsCommitted);
        held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("x", (await fork.SnapshotAsync()).Count));
        await fork.SetAsync("new", 1);
        Assert.False((await held.EndTxAsync()).IsCommitted);
    }

    /// <summary>R17: its snapshot is from before the fork, so that it moves on, or ends if it cannot.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_fork_is_read_in_a_transaction_that_is_older(bool isOvertaken)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var other = world.NewRuntime();
        var same = await other.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var at = await world.TailAsync();
        await using var transaction = runtime.BeginTx();
        await accounts.BalanceAsync("a");
        if (isOvertaken) await same.SetAsync("a", 2);
        await other.History.ForkAsync("accounts", at, "fork");
        // A runtime's own call, outside the transaction that flows here.
        var fork = await Task.Run(async () =>
        {
            runtime.LeaveTransaction();
            return await runtime.OpenRemoteAsync<Accounts>("fork");
        }, TestContext.Current.CancellationToken);
        if (isOvertaken)
        {
            await Assert.ThrowsAsync<TangoConflictException>(async () => await fork.BalanceAsync("a"));
            return;
        }

        Assert.Equal(1, await fork.BalanceAsync("a"));
        await accounts.SetAsync("x", 1);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
    }

    /// <summary>A full player and one that starts from a later checkpoint decide the same.</summary>
    [Fact]
    public async Task Versions_of_a_fork_are_restored_from_later_checkpoints_of_the_fork()
    {
        await using var world = new World();
        var (runtime, _, fork) = await ForkAsync(world);
        var first = await VersionsAsync(runtime, fork);
        Assert.Equal((0, first.LastAny), (first.Keys.Length, first.LastKeyless));
        await fork.SetAsync("b", 1);
        await runtime.Checkpoints.WriteAsync(fork);
        var late = world.NewRuntime();
        var loaded = await VersionsAsync(late, await late.OpenAsync<Accounts>("fork"));
        Assert.Equal(first.LastKeyless, loaded.LastKeyless);
        Assert.Single(loaded.Keys);
    }

    private static async Task<VersionTableState> VersionsAsync(TangoRuntime runtime, Accounts accounts) =>
        (await runtime.CaptureAsync(accounts)).Members[0].Versions;

    private static async Task<(TangoRuntime Runtime, Accounts Accounts, Accounts Fork)> ForkAsync(World world)
    {
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        return (runtime, accounts, await runtime.OpenAsync<Accounts>("fork"));
    }
}
