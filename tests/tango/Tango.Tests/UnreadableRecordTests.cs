using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using static Tango.Tests.RawRecords;

namespace Tango.Tests;

/// <summary>
/// Clusters of two code versions: older code meets a record of object "first" that it cannot read, and from there on
/// knows neither its state nor its versions (R20, R23). Object "second" is written by transactions that read the first.
/// </summary>
public class UnreadableRecordTests
{
    private static readonly ImmutableArray<StreamId> Both = [new(256), new(257)];
    private static readonly TimeSpan s_timeOuts = TimeSpan.FromSeconds(2);

    /// <summary>The older runtime took the first object for unchanged and committed what the newer one
    /// aborted.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Runtimes_of_two_code_versions_agree_about_an_orphan(bool newRuntimePlaysFirst) =>
        SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        var older = await HostedPair.OpenAsync(NewOldRuntime(world, time));
        var snapshotEnd = await world.TailAsync();
        await newer.First.AddAsync("x", 1);
        await AppendOrphanAsync(world, snapshotEnd);
        foreach (var pair in newRuntimePlaysFirst ? new[] { newer, older } : [older, newer])
        {
            var balance = pair.Second.BalanceAsync("x").AsTask();
            if (pair == newer) Assert.Equal(0, await balance);
            else await newer.Runtime.SyncAsync();
            Assert.Equal(0, await balance);
        }

        await Task.Delay(s_timeOuts, time);
        await older.Runtime.SyncAsync();
        Assert.Single((await LogModel.ReplayAsync(world.Log)).Decisions);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await older.First.BalanceAsync("x"));
        await older.Second.SetAsync("y", 3);
        Assert.Equal(3, await newer.Second.BalanceAsync("y"));
        Assert.Equal(1, await newer.First.BalanceAsync("x"));
    });

    [Theory]
    [InlineData("x", false)]
    [InlineData("y", true)]
    public void A_transaction_in_flight_of_older_code_gets_the_outcome_that_newer_code_decides(
        string account, bool commits) => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        var older = await HostedPair.OpenAsync(NewOldRuntime(world, time));
        var transfer = await HeldTransaction.BeginAsync(older.Runtime,
            async () => await older.Second.SetAsync(account, await older.First.BalanceAsync(account) + 7));
        await newer.First.AddAsync("x", 1);
        // Sent before the older runtime has met what it cannot read.
        var outcome = transfer.EndTxAsync();
        await Task.Delay(s_timeOuts, time);
        Assert.False(outcome.IsCompleted, "decided without knowing what was read");
        await newer.Runtime.SyncAsync();
        await Task.WhenAny(outcome, Task.Delay(s_timeOuts, time));
        Assert.True(outcome.IsCompleted, "not decided within a few time-outs");
        Assert.Equal(commits, (await outcome).IsCommitted);
        Assert.Equal(commits ? 7 : 0, await older.Second.BalanceAsync(account));
        Assert.Equal(commits ? 7 : 0, await newer.Second.BalanceAsync(account));
    });

    /// <summary>The older runtime waited until the newer one was used.</summary>
    [Fact]
    public void Newer_code_decides_for_older_code_also_while_idle() => SeededContext.Run(7, async time =>
    {
        await using var world = new World(time: time) { IdlePlayback = s_timeOuts };
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        var older = await HostedPair.OpenAsync(NewOldRuntime(world, time));
        var transfer = await HeldTransaction.BeginAsync(older.Runtime,
            async () => await older.Second.SetAsync("x", await older.First.BalanceAsync("x") + 7));
        await newer.First.AddAsync("x", 1);
        var outcome = await transfer.EndTxAsync();
        Assert.IsType<TxOutcome.Aborted>(outcome);
    });

    [Fact]
    public void Quiet_runtime_plays_writes_of_another_runtime() => SeededContext.Run(8, async time =>
    {
        await using var world = new World(time: time) { IdlePlayback = s_timeOuts };
        var writer = await HostedPair.OpenAsync(world.NewRuntime());
        var quiet = await HostedPair.OpenAsync(world.NewRuntime());
        await writer.First.AddAsync("x", 1);
        var tail = await world.TailAsync();
        Assert.True(quiet.Runtime.Log.PlayedTo < tail);
        await Task.Delay(3 * s_timeOuts, time);
        Assert.Equal(tail, quiet.Runtime.Log.PlayedTo);
    });

    /// <summary>Nothing here waits for its decision, and an outcome is never guessed.</summary>
    [Fact]
    public void Transaction_without_a_hosted_written_object_is_in_doubt() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        var runtime = NewOldRuntime(world, time);
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        var second = await runtime.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        var transfer = await HeldTransaction.BeginAsync(runtime,
            async () => await second.SetAsync("x", await first.BalanceAsync("x") + 7));
        await newer.First.AddAsync("x", 1);
        Assert.IsType<TxOutcome.InDoubt>(await transfer.EndTxAsync());
        Assert.Equal(0, await newer.Second.BalanceAsync("x"));
    });

    [Fact]
    public void Transactions_that_used_an_object_before_the_stop_fail_typed() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        var older = await HostedPair.OpenAsync(NewOldRuntime(world, time));
        Func<Task>[] bodies =
        [
            async () => await older.Second.SetAsync("x", await older.First.BalanceAsync("y")),
            async () => await older.First.SetAsync("y", 1),
            async () => await older.First.BalanceAsync("y"),
        ];
        var held = new List<HeldTransaction>();
        foreach (var body in bodies) held.Add(await HeldTransaction.BeginAsync(older.Runtime, body));
        await newer.First.AddAsync("x", 1);
        await older.Runtime.SyncAsync();
        var tail = await world.TailAsync();
        foreach (var transaction in held)
            await Assert.ThrowsAsync<TangoObjectStoppedException>(transaction.EndTxAsync);
        Assert.Equal(tail, await world.TailAsync());
    });

    /// <summary>A runtime that would play the read set itself meets the same record: it must not decide, and must still
    /// notice the decision of another.</summary>
    [Fact]
    public void A_probe_of_older_code_leaves_the_decision_to_newer_code() => SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var before = await HostedPair.OpenAsync(world.NewRuntime());
        var runtime = NewOldRuntime(world, time);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        var snapshotEnd = await world.TailAsync();
        await before.First.AddAsync("x", 1);
        await before.Runtime.DisposeAsync();
        await AppendOrphanAsync(world, snapshotEnd);
        var balance = second.BalanceAsync("x").AsTask();
        await Task.Delay(s_timeOuts, time);
        Assert.False(balance.IsCompleted, "decided without knowing what was read");
        Assert.Empty((await LogModel.ReplayAsync(world.Log)).Decisions);

        var after = await world.NewRuntime().OpenAsync<Accounts>("first", OpenMode.Create);
        Assert.Equal(1, await after.BalanceAsync("x"));
        Assert.Equal(0, await balance);
    });

    /// <summary>The key that the orphan read was written by another orphan, which this code cannot decide. The probe
    /// waited for that for ever, and the decision that stood in the log was not looked for meanwhile.</summary>
    [Fact]
    public void A_probe_that_cannot_go_on_does_not_hide_a_decision() => SeededContext.Run(6, async time =>
    {
        await using var world = new World(time: time);
        var newer = await HostedPair.OpenAsync(world.NewRuntime());
        await newer.Runtime.OpenAsync<Accounts>("third", OpenMode.Create);
        var runtime = NewOldRuntime(world, time);
        var third = await runtime.OpenAsync<Accounts>("third", OpenMode.Create);
        var snapshotEnd = await world.TailAsync();
        await newer.First.AddAsync("x", 1);
        await newer.Runtime.DisposeAsync();
        await AppendOrphanAsync(world, snapshotEnd);
        var last = await AppendOrphanAsync(world, snapshotEnd, read: 257, written: 258);
        var balance = third.BalanceAsync("x").AsTask();
        await Task.Delay(s_timeOuts, time);
        Assert.False(balance.IsCompleted, "decided without knowing what was read");

        await AppendAsync(world, 1, [new(257), new(258)], writer =>
        {
            writer.WriteArrayHeader(4);
            writer.Write(3);
            writer.Write(last.Offset);
            writer.Write(0);
            writer.WriteNil();
            writer.Flush();
        });
        Assert.Equal(7, await balance);
    });

    /// <summary>Transactions within a group have no decision records: what one of them came to is not known any
    /// more.</summary>
    [Fact]
    public void Unreadable_record_stops_all_members_of_a_group() => SeededContext.Run(7, async time =>
    {
        await using var world = new World(time: time);
        var newer = world.NewRuntime();
        var (first, second) = await OpenGroupAsync(newer);
        var older = NewOldRuntime(world, time);
        var (oldFirst, oldSecond) = await OpenGroupAsync(older);
        var other = await older.OpenAsync<Accounts>("other", OpenMode.Create);
        var reader = await newer.OpenAsync<Accounts>("other", OpenMode.Create);

        var inFlight = await HeldTransaction.BeginAsync(older,
            async () => await oldSecond.SetAsync("x", await oldFirst.BalanceAsync("x") + 7));
        await first.AddAsync("x", 1);
        Assert.IsType<TxOutcome.InDoubt>(await inFlight.EndTxAsync());
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await oldFirst.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await oldSecond.BalanceAsync("x"));
        Assert.Equal(0, await second.BalanceAsync("x"));
        await other.SetAsync("x", 1);
        Assert.Equal(1, await other.BalanceAsync("x"));

        // A transaction that reads the group and writes another object has a decision record.
        var transaction = newer.BeginTx();
        await reader.SetAsync("x", await first.BalanceAsync("x") + await second.BalanceAsync("x") + 1);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(2, await other.BalanceAsync("x"));
    });

    /// <summary>R19: code that could not read spilled writes decided such a transaction, published that, and applied a
    /// part of it before it noticed. Here no spill stands where the record says.</summary>
    [Fact]
    public void A_commit_record_whose_spills_cannot_be_read_is_not_decided() => SeededContext.Run(8, async time =>
    {
        await using var world = new World(time: time);
        var pair = await HostedPair.OpenAsync(world.NewRuntime());
        var snapshotEnd = await world.TailAsync();
        await AppendAsync(world, 1, Both, writer =>
        {
            WriteOrphan(ref writer, snapshotEnd.Offset, 256, 257, spills: 1);
            writer.Flush();
        });
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await pair.Second.BalanceAsync("x"));
        await Task.Delay(s_timeOuts, time);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await pair.First.BalanceAsync("x"));
        Assert.Equal(snapshotEnd.Next, await world.TailAsync());
    });

    /// <summary>No code could ever decide what reads the object if this did not: all would wait for ever.</summary>
    [Theory]
    [InlineData(new byte[] { 0xc1 })]
    [InlineData(new byte[0])]
    [InlineData(new byte[] { 0x93, 0xa1, 65, 1, 1 })]
    public void Foreign_entry_hides_no_versions(byte[] foreign) => SeededContext.Run(10, async time =>
    {
        await using var world = new World(time: time);
        var pair = await HostedPair.OpenAsync(world.NewRuntime());
        var snapshotEnd = await world.TailAsync();
        await world.Log.AppendToObjectsAsync(foreign, [new StreamId(256)]);
        var orphan = await AppendOrphanAsync(world, snapshotEnd);
        Assert.Equal(7, await pair.Second.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await pair.First.BalanceAsync("x"));
        await Task.Delay(s_timeOuts, time);
        Assert.Equal(orphan + 2, await world.TailAsync());
    });

    [Fact]
    public void A_record_of_an_unknown_kind_without_effect_is_passed_over() => SeededContext.Run(9, async time =>
    {
        await using var world = new World(time: time);
        var pair = await HostedPair.OpenAsync(world.NewRuntime());
        var snapshotEnd = await world.TailAsync();
        await AppendAsync(world, 2, Both, writer =>
        {
            writer.WriteArrayHeader(2);
            writer.Write(128);
            writer.Write("whatever");
            WriteOrphan(ref writer, snapshotEnd.Offset, 256, 257);
            writer.Flush();
        });
        Assert.Equal(7, await pair.Second.BalanceAsync("x"));
        Assert.Equal(0, await pair.First.BalanceAsync("x"));
    });

    private static async Task<(Accounts First, Accounts Second)> OpenGroupAsync(TangoRuntime runtime)
    {
        Accounts first = null!, second = null!;
        await runtime.OpenGroupAsync("pair", group =>
        {
            first = group.Add<Accounts>("first");
            second = group.Add<Accounts>("second");
        });
        return (first, second);
    }

    /// <summary>A runtime that cannot read what <see cref="Accounts.AddAsync"/> writes.</summary>
    private static TangoRuntime NewOldRuntime(World world, TimeProvider time) => world.NewRuntime(
        () => new OldCodeCursor(world.Log.OpenCursor(), static record => MutatorOf(record) == 2), time);

    private static int MutatorOf(ReadOnlyMemory<byte> update)
    {
        var reader = new MessagePackReader(update);
        reader.ReadArrayHeader(5);
        reader.SkipValue();
        return reader.ReadUInt64() < StreamId.FirstObjectValue ? 0 : reader.ReadInt32();
    }

    /// <summary>Appends the record of a client that is gone: it read x of one object and set x of another to
    /// 7.</summary>
    private static Task<LogPosition> AppendOrphanAsync(
        World world, LogPosition snapshotEnd, int read = 256, int written = 257) =>
        AppendAsync(world, 1, [new((ulong)read), new((ulong)written)], writer =>
        {
            WriteOrphan(ref writer, snapshotEnd.Offset, read, written);
            writer.Flush();
        });

    private static async Task<LogPosition> AppendAsync(
        World world, int records, ImmutableArray<StreamId> streams, WriteRecord record) =>
        (await world.Log.AppendToObjectsAsync(Entry(records, record), streams)).Position;

    private sealed record HostedPair(TangoRuntime Runtime, Accounts First, Accounts Second)
    {
        public static async Task<HostedPair> OpenAsync(TangoRuntime runtime) =>
            new(runtime, await runtime.OpenAsync<Accounts>("first", OpenMode.Create),
                await runtime.OpenAsync<Accounts>("second", OpenMode.Create));
    }
}
