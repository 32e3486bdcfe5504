using Corfu;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>Causes other than conflicts that end a transaction, and what it costs by then.</summary>
public class TransactionLimitTests
{
    [Fact]
    public async Task A_transaction_that_twice_takes_too_long_to_spill_ends_and_names_the_span()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 200 });
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 2 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var runs = 0;
        var ended = await Assert.ThrowsAsync<TangoAbortedException>(async () => await runtime.RunTransactionAsync(
            async _ =>
            {
                runs++;
                for (var i = 0; i < 40; i++) await accounts.SetAsync($"account {i}", 1);
            }));
        Assert.Equal((2, AbortReason.SpilledTooEarly), (runs, ended.Outcome.Reason));
        Assert.Matches(@"aborted 2 times .* It took [0-9.]+ s, and the log's span is 2 positions", ended.Message);
    }

    [Fact]
    public async Task A_transaction_that_always_conflicts_is_tried_twenty_times()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var runs = 0;
        await Assert.ThrowsAsync<TangoAbortedException>(async () => await runtime.RunTransactionAsync(async _ =>
        {
            var balance = await accounts.BalanceAsync("x");
            // A handle of another runtime is no part of the transaction.
            await other.SetAsync("x", ++runs);
            await accounts.SetAsync("x", balance);
        }));
        Assert.Equal(20, runs);
    }

    [Fact]
    public async Task A_transaction_over_too_many_objects_is_refused_before_anything_is_written()
    {
        // The writes do not fit into an entry.
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 16 << 10 });
        var runtime = world.NewRuntime();
        var objects = new List<Accounts>();
        for (var i = 0; i < 5; i++)
        {
            await runtime.OpenGroupAsync($"group {i}", group => objects.AddRange(
                Enumerable.Range(0, 205).Select(n => group.Add<Accounts>($"{i}.{n}"))));
        }

        var tail = await world.TailAsync();
        await using (var transaction = runtime.BeginTx())
        {
            foreach (var one in objects) await one.SetAsync("x", 1);
            var end = transaction.EndTxAsync().AsTask();
            var refused = await Assert.ThrowsAsync<TangoTooLargeException>(() => end);
            Assert.Equal((1025, 1024), (refused.Size, refused.Limit));
        }

        Assert.Equal(tail, await world.TailAsync());
        await using var fitting = runtime.BeginTx();
        foreach (var one in objects[1..]) await one.SetAsync("x", 1);
        Assert.True((await fitting.EndTxAsync()).IsCommitted);
    }

    /// <summary>A batch with more streams than an entry has would fail for all of its callers.</summary>
    [Fact]
    public async Task Batches_with_more_streams_than_an_entry_has_are_refused_as_an_option()
    {
        await using var world = new World();
        world.NewRuntime(new TangoOptions { MaxBatchStreams = EntryLimits.MaxStreams });
        var refused = Assert.Throws<ArgumentException>(
            () => world.NewRuntime(new TangoOptions { MaxBatchStreams = EntryLimits.MaxStreams + 1 }));
        Assert.Contains("it must be 1 to 1,024", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stale_snapshot_is_read_while_the_log_cannot_be_asked()
    {
        var isOut = false;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ => isOut ? throw new LogUnavailableException("No sequencer") : ValueTask.CompletedTask,
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await runtime.SyncAsync();
        // Acknowledged, and not played here.
        await accounts.SetAsync("x", 2);
        isOut = true;
        await using var stale = runtime.BeginTx(new TransactionOptions { StaleSnapshot = true });
        Assert.Equal(1, await accounts.BalanceAsync("x"));
        Assert.True((await stale.EndTxAsync()).IsCommitted);
        isOut = false;
        Assert.Equal(2, await accounts.BalanceAsync("x"));
    }
}
