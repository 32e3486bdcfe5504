using Corfu;
using Tango.Formatting;
using Tango.Records;
using Tango.Testing;
using static Tango.Tests.RawRecords;

namespace Tango.Tests;

/// <summary>R19: transactions above one entry.</summary>
public class SpillTests
{
    private const int Keys = 40;
    private static readonly InMemoryLogOptions s_small = new() { MaxPayload = 200 };

    [Fact]
    public async Task A_transaction_above_one_entry_takes_effect_as_a_whole()
    {
        await using var world = new World(s_small);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (otherRuntime, other) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("seen"));
        await WriteAllAsync(accounts, 1);
        await accounts.SetAsync("account 0", 100);
        Assert.Equal(100, await accounts.BalanceAsync("account 0"));
        var committed = Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        Assert.Equal(0, committed.RejectedWrites);

        var (_, late) = await world.OpenAccountsAsync();
        foreach (var replica in new[] { accounts, other, late })
        {
            var balances = await replica.SnapshotAsync();
            Assert.Equal(Keys, balances.Count);
            Assert.Equal(100, balances["account 0"]);
            Assert.Equal(1, balances[$"account {Keys - 1}"]);
        }

        Assert.True((await LogModel.ReplayAsync(world.Log)).Commits[committed.Version].Committed);
        // The other runtime plays on above the commit record.
        await otherRuntime.SyncAsync();
    }

    [Fact]
    public async Task Host_of_only_the_written_object_applies_the_spills_once_another_host_decides()
    {
        await using var world = new World(s_small);
        var runtime = world.NewRuntime();
        var read = await runtime.OpenAsync<Accounts>("read", OpenMode.Create);
        var written = await runtime.OpenWriteOnlyAsync<Accounts>("written", OpenMode.Create);
        var host = await world.NewRuntime().OpenAsync<Accounts>("written", OpenMode.Create);
        await using var transaction = runtime.BeginTx();
        await read.BalanceAsync("x");
        await WriteAllAsync(written, 5);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(Keys, (await host.SnapshotAsync()).Count);
    }

    [Fact]
    public async Task Spills_of_an_aborted_transaction_have_no_effect()
    {
        var beforeAppend = () => ValueTask.CompletedTask;
        await using var world = new World(s_small with { AroundAppend = async _ => await beforeAppend() });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (otherRuntime, other) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        await accounts.BalanceAsync("seen");
        await WriteAllAsync(accounts, 1);
        beforeAppend = async () =>
        {
            beforeAppend = () => ValueTask.CompletedTask;
            otherRuntime.LeaveTransaction();
            runtime.LeaveTransaction();
            await other.SetAsync("seen", 7);
        };
        var aborted = Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(AbortReason.Conflict, aborted.Reason);
        Assert.Equal(["seen"], (await accounts.SnapshotAsync()).Keys);
        Assert.Equal(["seen"], (await other.SnapshotAsync()).Keys);
    }

    /// <summary>An opener starts at a checkpoint between the spills and the commit record: what is released ends
    /// MaxSpan below it.</summary>
    [Fact]
    public async Task Spills_below_a_checkpoint_are_kept_for_a_commit_record_above()
    {
        var appends = 0;
        var beforeAppend = () => ValueTask.CompletedTask;
        await using var world = new World(s_small with { AroundAppend = async _ => await beforeAppend() });
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 150 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (otherRuntime, other) = await world.OpenAccountsAsync();
        for (var i = 0; i < 300; i++) await other.SetAsync("other", i);
        await runtime.SyncAsync();
        await using var transaction = runtime.BeginTx();
        await accounts.BalanceAsync("seen");
        await WriteAllAsync(accounts, 1);
        var spillsFrom = await world.TailAsync();
        beforeAppend = async () =>
        {
            if (Interlocked.Increment(ref appends) != 5) return;
            runtime.LeaveTransaction();
            for (var i = 0; i < 2; i++)
            {
                await otherRuntime.Checkpoints.WriteAsync(other);
                await otherRuntime.Checkpoints.WriteDirectoryAsync();
            }

            Assert.True((await otherRuntime.Log.TrimAsync()).Offset > 0);
        };
        Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        Assert.True(appends > 5);
        Assert.True((await otherRuntime.Log.ReadTrimPointAsync()).Released <= spillsFrom);
        var (_, late) = await world.OpenAccountsAsync();
        Assert.Equal(Keys + 1, (await late.SnapshotAsync()).Count);

        // Above the commit record they are history like any other, and no raw entries.
        for (var i = 0; i < 300; i++) await other.SetAsync("other", i);
        for (var i = 0; i < 2; i++)
        {
            await otherRuntime.Checkpoints.WriteAsync(other);
            await otherRuntime.Checkpoints.WriteDirectoryAsync();
        }

        Assert.True(await otherRuntime.Log.TrimAsync() > spillsFrom);
        var (_, latest) = await world.OpenAccountsAsync();
        Assert.Equal(Keys + 1, (await latest.SnapshotAsync()).Count);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Commit_record_too_far_from_the_first_spill_aborts_at_every_runtime(bool reads)
    {
        await using var world = new World(s_small);
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 2 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (_, other) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        if (reads) await accounts.BalanceAsync("seen");
        await WriteAllAsync(accounts, 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(AbortReason.SpilledTooEarly, aborted.Reason);
        Assert.Empty(await accounts.SnapshotAsync());
        Assert.Empty(await other.SnapshotAsync());
    }

    [Fact]
    public async Task Transaction_cancelled_while_spilling_has_no_effect()
    {
        using var cancelled = new CancellationTokenSource();
        var isArmed = false;
        await using var world = new World(s_small with
        {
            AroundAppend = _ =>
            {
                if (isArmed) cancelled.Cancel();
                return ValueTask.CompletedTask;
            },
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        await WriteAllAsync(accounts, 1);
        isArmed = true;
        var end = transaction.EndTxAsync(cancelled.Token).AsTask();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => end);
        isArmed = false;
        Assert.Empty(await accounts.SnapshotAsync());
        await accounts.SetAsync("x", 1);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    /// <summary>Simulated seed 51: a full disk.</summary>
    [Fact]
    public async Task One_whose_writes_cannot_be_spilled_has_no_effect_and_says_so()
    {
        var isFull = false;
        await using var world = new World(s_small with
        {
            AroundAppend = _ => isFull ? throw new LogUnavailableException("No space") : ValueTask.CompletedTask,
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await using var transaction = runtime.BeginTx();
        await WriteAllAsync(accounts, 1);
        isFull = true;
        var end = transaction.EndTxAsync().AsTask();
        await Assert.ThrowsAsync<TangoSpillException>(() => end);
        isFull = false;
        Assert.Empty(await accounts.SnapshotAsync());
    }

    [Fact]
    public async Task A_write_above_one_entry_is_refused_before_anything_is_sent()
    {
        await using var world = new World(s_small);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var tail = await world.TailAsync();
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        await accounts.SetAsync(new string('y', 300), 1);
        var end = transaction.EndTxAsync().AsTask();
        var refused = await Assert.ThrowsAsync<TangoTooLargeException>(() => end);
        Assert.True(refused.Size > refused.Limit);
        Assert.Equal(tail, await world.TailAsync());
    }

    /// <summary>R23: what stands at the position that a commit record names is not what it should be.</summary>
    [Fact]
    public async Task Writes_that_are_not_where_a_commit_record_says_stop_the_object()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, second) = (runtime, await runtime.OpenAsync<Accounts>("second", OpenMode.Create));
        await second.SetAsync("x", 1);
        var tail = await world.TailAsync();
        var stream = ObjectId.FirstUser.Stream;
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer => WriteCommitOfSpill(ref writer, tail.Offset - 1, ObjectId.FirstUser.Value)), [stream]);
        var stopped = await Assert.ThrowsAsync<TangoObjectStoppedException>(
            async () => await accounts.BalanceAsync("x"));
        Assert.IsType<TangoFormatException>(stopped.InnerException);
        Assert.Equal(1, await second.BalanceAsync("x"));
    }

    /// <summary>The position that it lost to is its own spill's, which playback of its objects never reaches.</summary>
    [Fact]
    public async Task Write_only_transactions_that_spilled_too_early_end_as_aborted()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 200 });
        await world.NewRuntime(new TangoOptions { NewLogMaxSpan = 2 }).OpenAsync<Accounts>("accounts", OpenMode.Create);
        var runtime = world.NewRuntime();
        var accounts = await runtime.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        var exhausted = await Assert.ThrowsAsync<TangoAbortedException>(async () => await runtime.RunTransactionAsync(
            async _ => await WriteAllAsync(accounts, 1), new TransactionOptions { MaxAttempts = 2 }));
        Assert.Equal(AbortReason.SpilledTooEarly, exhausted.Outcome.Reason);
    }

    private static async Task WriteAllAsync(Accounts accounts, long amount)
    {
        for (var i = 0; i < Keys; i++) await accounts.SetAsync($"account {i}", amount);
    }

    private static void WriteCommitOfSpill(ref MessagePackWriter writer, long position, ulong written)
    {
        writer.WriteArrayHeader(6);
        writer.Write(2);
        writer.Write(0);
        writer.Write(0);
        writer.WriteArrayHeader(0);
        writer.WriteArrayHeader(0);
        writer.WriteArrayHeader(1);
        writer.WriteArrayHeader(3);
        writer.Write(position);
        writer.Write(0);
        writer.WriteArrayHeader(1);
        writer.Write(written);
        writer.Flush();
    }
}
