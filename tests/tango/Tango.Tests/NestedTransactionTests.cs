namespace Tango.Tests;

/// <summary>A transaction that is begun within another joins it.</summary>
public class NestedTransactionTests
{
    [Fact]
    public async Task The_outer_transaction_decides_about_both()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await using var outer = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        await using (var inner = runtime.BeginTx())
        {
            await accounts.SetAsync("y", await accounts.BalanceAsync("x") + 1);
            Assert.IsType<TxOutcome.Joined>(await inner.EndTxAsync());
            Assert.False(inner.IsActive);
            Assert.Equal(outer.SnapshotEnd, inner.SnapshotEnd);
        }

        Assert.True(outer.IsActive);
        Assert.Equal(0, await other.BalanceAsync("y"));
        Assert.True((await outer.EndTxAsync()).IsCommitted);
        Assert.Equal(2, await other.BalanceAsync("y"));
    }

    [Fact]
    public async Task Outer_transaction_aborts_by_a_read_of_the_inner_transaction()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await using var outer = runtime.BeginTx();
        await using (var inner = runtime.BeginTx())
        {
            await accounts.BalanceAsync("x");
            await inner.EndTxAsync();
        }

        await other.SetAsync("x", 1);
        await accounts.SetAsync("y", 1);
        Assert.IsType<TxOutcome.Aborted>(await outer.EndTxAsync());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_inner_one_that_is_dropped_or_open_drops_the_outer_one(bool isDisposed)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var before = await world.TailAsync();
        await using var outer = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        var inner = runtime.BeginTx();
        if (isDisposed) await inner.DisposeAsync();
        await Assert.ThrowsAsync<TangoTransactionException>(() => outer.EndTxAsync().AsTask());
        await inner.DisposeAsync();
        Assert.Equal(before, await world.TailAsync());
        runtime.LeaveTransaction();
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_helper_that_runs_transactions_can_be_used_in_one()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var attempts = 0;
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            await AddAsync("x");
            if (++attempts == 1) await other.SetAsync("x", 10);
            await AddAsync("y");
        });
        Assert.True(outcome.IsCommitted);
        Assert.Equal(2, attempts);
        Assert.Equal((11, 1), (await accounts.BalanceAsync("x"), await accounts.BalanceAsync("y")));
        Assert.Equal(12, await AddAsync("x"));

        async Task<long> AddAsync(string account)
        {
            var result = await runtime.RunTransactionAsync(async _ => await accounts.AddAsync(account, 1));
            Assert.True(result.Outcome is TxOutcome.Committed or TxOutcome.Joined);
            return result.Value;
        }
    }

    [Fact]
    public async Task An_exception_of_an_inner_body_passes_and_drops_the_outer_one()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var outer = runtime.RunTransactionAsync(async _ =>
        {
            await accounts.SetAsync("x", 1);
            await Assert.ThrowsAsync<FormatException>(() => runtime.RunTransactionAsync(
                async _ =>
                {
                    await accounts.SetAsync("y", 1);
                    throw new FormatException();
                }).AsTask());
        }).AsTask();
        await Assert.ThrowsAsync<TangoTransactionException>(() => outer);
        Assert.Empty(await accounts.SnapshotAsync());
    }

    [Fact]
    public async Task An_inner_one_that_must_be_fresh_makes_a_stale_outer_one_ask_the_log()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await using var outer = runtime.BeginTx(new TransactionOptions { StaleSnapshot = true });
        await using (var inner = runtime.BeginTx())
        {
            await accounts.BalanceAsync("x");
            await inner.EndTxAsync();
        }

        // Outside of the transaction: the other runtime has its own.
        await other.SetAsync("x", 1);
        Assert.IsType<TxOutcome.Aborted>(await outer.EndTxAsync());
    }

    [Fact]
    public async Task An_inner_end_that_is_cancelled_drops_the_outer_one()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var outer = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        await using var inner = runtime.BeginTx();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => inner.EndTxAsync(new CancellationToken(canceled: true)).AsTask());
        await Assert.ThrowsAsync<TangoTransactionException>(() => outer.EndTxAsync().AsTask());
    }
}
