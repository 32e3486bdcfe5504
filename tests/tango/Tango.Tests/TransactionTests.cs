using Corfu;
using Tango.Runtime;

namespace Tango.Tests;

public class TransactionTests
{
    [Fact]
    public async Task Transaction_alone_reads_own_writes_before_the_end()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await runtime.SyncAsync();

        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", 10);
        Assert.Equal(10, await accounts.BalanceAsync("x"));
        Assert.Equal(15, await accounts.AddAsync("x", 5));
        Assert.Equal(1, await other.BalanceAsync("x"));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(15, await accounts.BalanceAsync("x"));
        Assert.Equal(15, await other.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_lost_update_is_refused_and_the_abort_names_the_reason()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await runtime.SyncAsync();

        var transaction = runtime.BeginTx();
        var seen = await accounts.BalanceAsync("x");
        await other.SetAsync("x", 100);
        await accounts.SetAsync("x", seen + 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(AbortReason.Conflict, aborted.Reason);
        Assert.Equal("accounts", aborted.ObjectName);
        Assert.False(aborted.Key.IsNone);
        var tail = (await world.Log.CheckAsync([])).Tail;
        Assert.Equal(tail.Offset - 2, aborted.ConflictingWrite.Position.Offset);
        Assert.Equal(100, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Write_skew_does_not_happen()
    {
        await using var world = new World();
        var (runtimeA, a) = await world.OpenAccountsAsync();
        var (runtimeB, b) = await world.OpenAccountsAsync();
        await a.SetAsync("x", 50);
        await a.SetAsync("y", 50);
        await runtimeA.SyncAsync();
        await runtimeB.SyncAsync();

        // Each withdraws from one account what only both together can cover.
        var first = await WithdrawIfCoveredAsync(runtimeA, a, "x");
        var second = await WithdrawIfCoveredAsync(runtimeB, b, "y");
        var outcomes = new[] { await first.EndTxAsync(), await second.EndTxAsync() };

        Assert.True(outcomes[0].IsCommitted);
        Assert.IsType<TxOutcome.Aborted>(outcomes[1]);
        Assert.Equal(0, await a.BalanceAsync("x") + await a.BalanceAsync("y"));

        static Task<HeldTransaction> WithdrawIfCoveredAsync(TangoRuntime runtime, Accounts accounts, string from) =>
            HeldTransaction.BeginAsync(runtime, async () =>
            {
                var total = await accounts.BalanceAsync("x") + await accounts.BalanceAsync("y");
                if (total >= 100) await accounts.SetAsync(from, await accounts.BalanceAsync(from) - 100);
            });
    }

    [Fact]
    public async Task Keyless_read_conflicts_with_any_write_and_a_keyed_read_only_with_writes_of_the_key()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();

        var phantom = runtime.BeginTx();
        Assert.Empty(await accounts.SnapshotAsync());
        await other.SetAsync("new", 1);
        await accounts.SetAsync("count", 0);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await phantom.EndTxAsync());
        Assert.True(aborted.Key.IsNone);

        await runtime.SyncAsync();
        var keyed = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("count"));
        await other.SetAsync("new", 2);
        await accounts.SetAsync("count", 1);
        Assert.True((await keyed.EndTxAsync()).IsCommitted);

        var cleared = runtime.BeginTx();
        Assert.Equal(1, await accounts.BalanceAsync("count"));
        await other.ClearAsync();
        await accounts.SetAsync("count", 2);
        Assert.IsType<TxOutcome.Aborted>(await cleared.EndTxAsync());
    }

    [Fact]
    public async Task All_reads_come_from_one_position_even_while_playback_goes_on()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await other.RunAsync(world.NewRuntime(), ("x", 1), ("y", 1));
        await runtime.SyncAsync();

        var transaction = runtime.BeginTx();
        var x = await accounts.BalanceAsync("x");
        await other.RunAsync(world.NewRuntime(), ("x", 2), ("y", 2));
        await runtime.SyncAsync();
        Assert.Equal(x, await accounts.BalanceAsync("y"));
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
    }

    [Fact]
    public async Task A_mutator_that_returns_a_value_is_a_read()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var transaction = runtime.BeginTx();
        Assert.Equal(1, await accounts.AddAsync("x", 1));
        await other.AddAsync("x", 1);
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_rejection_on_the_snapshot_is_raised_at_the_call_and_is_a_read()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var transaction = runtime.BeginTx();
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("x", 1));
        await accounts.SetAsync("refused", 1);
        await other.SetAsync("x", 5);
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());

        await runtime.SyncAsync();
        var again = runtime.BeginTx();
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("x", 6));
        await accounts.SetAsync("refused", 1);
        Assert.True((await again.EndTxAsync()).IsCommitted);
        Assert.Equal(1, await other.BalanceAsync("refused"));
    }

    [Fact]
    public async Task A_dropped_transaction_has_no_effect()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using (runtime.BeginTx()) await accounts.SetAsync("x", 1);
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Misuse_is_refused()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        await transaction.EndTxAsync();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await transaction.EndTxAsync());

        var (elsewhere, foreign) = await world.OpenAccountsAsync();
        var spread = elsewhere.BeginTx();
        await foreign.SetAsync("x", 2);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
        await spread.DisposeAsync();
    }

    [Fact]
    public async Task Retry_helper_repeats_aborted_transactions_until_the_commit()
    {
        await using var world = new World();
        var (runtimeA, a) = await world.OpenAccountsAsync();
        var (runtimeB, b) = await world.OpenAccountsAsync();
        const int Each = 200;
        await Task.WhenAll(IncrementAsync(runtimeA, a), IncrementAsync(runtimeB, b));
        Assert.Equal(2 * Each, await a.BalanceAsync("x"));

        static async Task IncrementAsync(TangoRuntime runtime, Accounts accounts)
        {
            for (var i = 0; i < Each; i++)
            {
                var outcome = await runtime.RunTransactionAsync(
                    async _ => await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1));
                Assert.True(outcome.IsCommitted);
            }
        }
    }

    [Fact]
    public async Task Exception_of_a_body_counts_only_if_the_reads_of_the_body_are_current()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await other.SetAsync("x", 7);
        var attempts = 0;
        var result = await runtime.RunTransactionAsync(async _ =>
        {
            attempts++;
            return await accounts.BalanceAsync("x") is var balance and > 0
                ? balance
                : throw new InvalidOperationException("empty");
        });
        Assert.Equal((7, 2), (result.Value, attempts));

        await Assert.ThrowsAsync<InvalidOperationException>(async () => await runtime.RunTransactionAsync(async _ =>
        {
            if (await accounts.BalanceAsync("y") == 0) throw new InvalidOperationException("empty");
        }));
    }

    [Fact]
    public async Task Exceptions_of_the_body_on_stale_snapshots_count_as_attempts()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var attempts = 0;
        var exhausted = await Assert.ThrowsAsync<TangoAbortedException>(async () => await runtime.RunTransactionAsync(
            async _ =>
            {
                if (++attempts > 10) throw new OperationCanceledException("For ever");
                await accounts.BalanceAsync("x");
                // By another runtime, so that the snapshot is stale each time.
                await other.AddAsync("x", 1);
                throw new InvalidOperationException("on a state that is no longer true");
            },
            new TransactionOptions { MaxAttempts = 3 }));
        var aborted = exhausted.Outcome;
        Assert.Equal((3, AbortReason.Conflict, "accounts"), (attempts, aborted.Reason, aborted.ObjectName));
    }

    [Fact]
    public void Outcome_other_than_committed_or_joined_throws()
    {
        new TxOutcome.Committed(default).ThrowIfNotCommitted();
        new TxOutcome.Joined().ThrowIfNotCommitted();
        Assert.Equal(7, new TxResult<int>(new TxOutcome.Committed(default), 7).ThrowIfNotCommitted());
        var aborted = new TxOutcome.Aborted(AbortReason.SnapshotTooOld, new ObjectId(300), "jobs",
            new ObjectKey([0xC1]), default);
        Assert.Same(aborted, Assert.Throws<TangoAbortedException>(aborted.ThrowIfNotCommitted).Outcome);
        Assert.Contains("key c1 of 'jobs'", new TangoAbortedException(aborted).Message, StringComparison.Ordinal);
        var inDoubt = new TxOutcome.InDoubt(null, "the answer is lost");
        Assert.Same(inDoubt, Assert.Throws<TangoInDoubtException>(inDoubt.ThrowIfNotCommitted).Outcome);
        Assert.Throws<TangoInDoubtException>(() => new TxResult<int>(inDoubt, 7).ThrowIfNotCommitted());
    }

    [Fact]
    public async Task Runtime_names_every_refused_option()
    {
        await using var world = new World();
        var refused = Assert.Throws<ArgumentException>(() => world.NewRuntime(
            new TangoOptions { OrphanTimeout = TimeSpan.Zero, PublishEvery = 0, MaxQueuedCalls = -1 }));
        foreach (var name in new[] { "OrphanTimeout", "PublishEvery", "MaxQueuedCalls" })
            Assert.Contains(name, refused.Message);
        foreach (var orphanTimeout in new[] { TimeSpan.FromTicks(-1), Timeout.InfiniteTimeSpan, TimeSpan.MaxValue })
        {
            Assert.Throws<ArgumentException>(
                () => world.NewRuntime(new TangoOptions { OrphanTimeout = orphanTimeout }));
        }
    }

    /// <summary>The directory would be read in it, and every object that is created would abort it.</summary>
    [Fact]
    public async Task The_directory_is_not_listed_in_a_transaction()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await runtime.Directory.ListAsync());
    }

    /// <summary>The members are there again before the cohort is readable. Whether a key that was read was written
    /// since is unknown.</summary>
    [Fact]
    public async Task Transaction_over_an_object_that_is_being_loaded_anew_aborts()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        var hosted = ((ObjectHost)accounts.Host).Hosted!;
        hosted.Cohort.Stop(new RecordVersion(LogPosition.Zero, 0), new TangoTrimmedException(new TimeoutException()));
        hosted.TakeOver(hosted.Cohort.Anew().Objects[0]);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(AbortReason.SnapshotTooOld, aborted.Reason);
    }
}
