namespace Tango.Tests;

/// <summary>Transactions that have the calls of enlisted handles and no others.</summary>
public class ExplicitTransactionTests
{
    private static readonly TransactionOptions s_explicit = new() { Explicit = true };

    [Fact]
    public async Task Explicit_transaction_has_only_enlisted_calls()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var tx = runtime.BeginTx(s_explicit);
        var enlisted = tx.Use(accounts);
        Assert.Equal("accounts", enlisted.ObjectName);
        await enlisted.SetAsync("x", 1);
        await accounts.SetAsync("y", 2);
        Assert.Equal((1, 0), (await enlisted.BalanceAsync("x"), await accounts.BalanceAsync("x")));
        Assert.Equal(2, await accounts.BalanceAsync("y"));
        (await tx.EndTxAsync()).ThrowIfNotCommitted();
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    /// <summary>A flowing transaction would be dropped: the method that began it has returned.</summary>
    [Fact]
    public async Task Explicit_transaction_is_begun_in_one_method_and_ended_in_another()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var tx = await BeginAsync();
        (await tx.EndTxAsync()).ThrowIfNotCommitted();
        Assert.Equal(5, await accounts.BalanceAsync("x"));

        async Task<TangoTransaction> BeginAsync()
        {
            var begun = runtime.BeginTx(s_explicit);
            await begun.Use(accounts).AddAsync("x", 5);
            return begun;
        }
    }

    [Fact]
    public async Task Two_explicit_transactions_at_once_conflict_like_flowing_transactions()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var first = runtime.BeginTx(s_explicit);
        await using var second = runtime.BeginTx(s_explicit);
        foreach (var tx in new[] { first, second })
            await tx.Use(accounts).SetAsync("x", await tx.Use(accounts).BalanceAsync("x") + 1);
        Assert.True((await first.EndTxAsync()).IsCommitted);
        Assert.IsType<TxOutcome.Aborted>(await second.EndTxAsync());
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Enlisting_in_one_that_flows_makes_no_difference()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using (var tx = runtime.BeginTx())
        {
            await accounts.SetAsync("x", 1);
            Assert.Equal(1, await tx.Use(accounts).BalanceAsync("x"));
            await using var joined = runtime.BeginTx(s_explicit);
            await joined.Use(accounts).AddAsync("x", 2);
            Assert.IsType<TxOutcome.Joined>(await joined.EndTxAsync());
            (await tx.EndTxAsync()).ThrowIfNotCommitted();
        }

        Assert.Equal(3, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Explicit_transaction_refuses_foreign_objects_and_calls_after_the_end()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, foreign) = await world.OpenAccountsAsync();
        var tx = runtime.BeginTx(s_explicit);
        Assert.Throws<TangoTransactionException>(() => tx.Use(foreign));
        var enlisted = tx.Use(accounts);
        await tx.DisposeAsync();
        Assert.Throws<TangoTransactionException>(() => tx.Use(accounts));
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await enlisted.SetAsync("x", 1));
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }
}
