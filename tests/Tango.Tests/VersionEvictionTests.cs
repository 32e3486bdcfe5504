namespace Tango.Tests;

/// <summary>R18: versions of keys are kept in bounded number; a snapshot older than what is kept cannot
/// commit.</summary>
public class VersionEvictionTests
{
    [Fact]
    public async Task A_snapshot_below_the_low_water_mark_aborts_and_a_newer_one_does_not()
    {
        await using var world = new World();
        var options = new TangoOptions { NewObjectVersionCapacity = 2 };
        var runtime = world.NewRuntime(options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);

        var old = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("x"));
        foreach (var key in new[] { "a", "b", "c" }) await other.SetAsync(key, 1);
        await accounts.SetAsync("x", 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await old.EndTxAsync());
        Assert.Equal(AbortReason.SnapshotTooOld, aborted.Reason);

        var fresh = runtime.BeginTx();
        Assert.Equal(1, await accounts.BalanceAsync("a"));
        await accounts.SetAsync("x", 1);
        Assert.True((await fresh.EndTxAsync()).IsCommitted);
    }

    [Fact]
    public async Task Writing_the_same_keys_again_evicts_nothing()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(new TangoOptions { NewObjectVersionCapacity = 2 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);
        var transaction = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("x"));
        for (var i = 0; i < 10; i++) await other.SetAsync(i % 2 == 0 ? "a" : "b", i);
        await accounts.SetAsync("x", 1);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
    }
}
