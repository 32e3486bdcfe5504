using Tango.Testing;

namespace Tango.Tests;

/// <summary>Which calls belong to a transaction, which may overlap, and what a cancelled end does.</summary>
public class TransactionFlowTests
{
    private static readonly CancellationToken Cancelled = new(canceled: true);

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public async Task Transaction_ended_with_a_cancelled_token_appends_no_entry(bool reads, bool writes)
    {
        await using var world = new World(new InMemoryLogOptions { Yield = false });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var before = await world.TailAsync();
        await using var transaction = runtime.BeginTx();
        if (reads) await accounts.BalanceAsync("x");
        if (writes) await accounts.SetAsync("x", 1);
        var end = transaction.EndTxAsync(Cancelled).AsTask();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => end);
        Assert.Equal(before, await world.TailAsync());
        Assert.Null(transaction.Outcome);
        Assert.False(transaction.IsActive);
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Transaction_cancelled_after_the_append_began_is_in_doubt()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var source = new CancellationTokenSource();
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        var end = transaction.EndTxAsync(source.Token);
        source.Cancel();
        Assert.IsType<TxOutcome.InDoubt>(await end);
        gate.SetResult();
    }

    [Fact]
    public async Task Concurrent_reads_come_from_one_snapshot()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        for (var i = 1; i <= 50; i++)
        {
            await other.RunAsync(world.NewRuntime(), ("x", i), ("y", i));
            await using var transaction = runtime.BeginTx(new TransactionOptions { StartFresh = true });
            var reads = Enumerable.Range(0, 16)
                .Select(n => Task.Run(async () => await accounts.BalanceAsync(n % 2 == 0 ? "x" : "y"))).ToArray();
            await other.RunAsync(world.NewRuntime(), ("x", -i), ("y", -i));
            Assert.Single((await Task.WhenAll(reads)).Distinct());
            await transaction.EndTxAsync();
        }
    }

    [Fact]
    public async Task Concurrent_reads_see_the_transactions_own_writes_and_are_validated()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", 5);
        await accounts.SetAsync("y", 6);
        var read = await Task.WhenAll(accounts.BalanceAsync("x").AsTask(), accounts.BalanceAsync("y").AsTask());
        Assert.Equal([5, 6], read);
        await other.SetAsync("y", 1);
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
    }

    [Fact]
    public async Task Writing_or_ending_beside_a_read_is_refused_and_the_transaction_goes_on()
    {
        var check = new TaskCompletionSource();
        check.SetResult();
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = async _ => await Volatile.Read(ref check).Task,
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        check = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var transaction = runtime.BeginTx(new TransactionOptions { StartFresh = true });
        var read = accounts.BalanceAsync("x").AsTask();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await accounts.SetAsync("x", 1));
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await transaction.EndTxAsync());
        check.SetResult();
        Assert.Equal(0, await read);
        await accounts.SetAsync("x", 2);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(2, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Transaction_begun_in_an_async_helper_is_refused_at_the_end()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var transaction = await BeginInHelperAsync();
        await accounts.SetAsync("plain", 1);
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await transaction.EndTxAsync());
        Assert.False(transaction.IsActive);
        Assert.Equal(0, await accounts.BalanceAsync("helper"));

        async Task<TangoTransaction> BeginInHelperAsync()
        {
            var begun = runtime.BeginTx();
            await accounts.SetAsync("helper", 1);
            return begun;
        }
    }

    [Fact]
    public async Task A_transaction_may_be_begun_in_a_plain_helper_and_used_in_async_ones()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var transaction = Begin();
        await WriteAsync();
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(1, await accounts.BalanceAsync("x"));

        TangoTransaction Begin() => runtime.BeginTx();
        async Task WriteAsync() => await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
    }

    [Fact]
    public async Task Task_that_outlives_the_transaction_fails_until_leaving()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task late = null!;
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            await accounts.SetAsync("x", 1);
            late = OutliveAsync();
        });
        Assert.True(outcome.IsCommitted);
        ended.SetResult();
        await late;
        Assert.Equal(7, await accounts.BalanceAsync("late"));

        async Task OutliveAsync()
        {
            await ended.Task;
            // A body that timed out must not write behind its transaction's back.
            await Assert.ThrowsAsync<TangoTransactionException>(async () => await accounts.SetAsync("late", 1));
            runtime.LeaveTransaction();
            for (var i = 1; i <= 7; i++) await accounts.SetAsync("late", i);
        }
    }

    [Fact]
    public async Task Task_that_leaves_an_active_transaction_writes_outside()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using (runtime.BeginTx())
        {
            await accounts.SetAsync("dropped", 1);
            await LogAsync();
        }

        Assert.Equal(0, await accounts.BalanceAsync("dropped"));
        Assert.Equal(1, await accounts.BalanceAsync("kept"));

        async Task LogAsync()
        {
            runtime.LeaveTransaction();
            await accounts.SetAsync("kept", 1);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_write_only_and_a_hosted_handle_of_one_object_share_a_transaction(bool writeOnlyFirst)
    {
        await using var world = new World();
        var (runtime, hosted) = await world.OpenAccountsAsync();
        var writeOnly = await runtime.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        await hosted.SetAsync("x", 1);
        await using var transaction = runtime.BeginTx();
        if (!writeOnlyFirst) Assert.Equal(1, await hosted.BalanceAsync("x"));
        await writeOnly.SetAsync("x", 10);
        Assert.Equal(10, await hosted.BalanceAsync("x"));
        Assert.Equal(15, await hosted.AddAsync("x", 5));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(15, await hosted.BalanceAsync("x"));
    }
}
