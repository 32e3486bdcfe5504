using Corfu;
using static Tango.Tests.RawRecords;

namespace Tango.Tests;

/// <summary>Objects that are hosted while they are read (Tango 4.1, D).</summary>
public class RemoteObjectTests
{
    private static readonly TangoOptions LeavesAtOnce = new() { RemoteStay = TimeSpan.Zero };

    [Fact]
    public async Task Remote_read_sees_writes_acknowledged_anywhere()
    {
        await using var world = new World();
        var (_, host) = await world.OpenAccountsAsync();
        await host.SetAsync("x", 1);
        var runtime = world.NewRuntime();
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var id = await IdAsync(runtime, "accounts");
        await remote.SetAsync("y", 5);
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(id));
        Assert.Equal(1, await remote.BalanceAsync("x"));
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(id));
        await host.SetAsync("x", 2);
        Assert.Equal(2, await remote.BalanceAsync("x"));
        Assert.Equal(5, await host.BalanceAsync("y"));
    }

    [Fact]
    public async Task Remote_object_leaves_some_time_after_the_last_use_and_returns()
    {
        var time = new VirtualTime();
        await using var world = new World(time: time);
        var (_, host) = await world.OpenAccountsAsync();
        await host.SetAsync("x", 1);
        var runtime = world.NewRuntime(new TangoOptions { RemoteStay = TimeSpan.FromSeconds(60) });
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var id = await IdAsync(runtime, "accounts");
        await remote.BalanceAsync("x");
        time.Advance(TimeSpan.FromSeconds(59));
        await remote.BalanceAsync("x");
        time.Advance(TimeSpan.FromSeconds(59));
        await runtime.SyncAsync();
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(id));
        time.Advance(TimeSpan.FromSeconds(1));
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(id));

        // Another object gets its place.
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        await other.SetAsync("x", 7);
        await host.SetAsync("x", 2);
        Assert.Equal(2, await remote.BalanceAsync("x"));
        Assert.Equal(7, await other.BalanceAsync("x"));
    }

    [Fact]
    public async Task Remote_objects_above_the_limit_leave_in_order_of_use()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(new TangoOptions { MaxRemoteCohorts = 2 });
        var ids = new List<ObjectId>();
        foreach (var name in (string[])["a", "b", "c"])
        {
            var remote = await runtime.OpenRemoteAsync<Accounts>(name, OpenMode.Create);
            await remote.BalanceAsync("x");
            ids.Add(await IdAsync(runtime, name));
            Assert.Equal(ids[^1], remote.ObjectId);
        }

        await (await runtime.OpenRemoteAsync<Accounts>("a")).BalanceAsync("x");
        await (await runtime.OpenRemoteAsync<Accounts>("d", OpenMode.Create)).BalanceAsync("x");
        await runtime.SyncAsync();
        Assert.Equal([true, false, false], ids.Select(runtime.Services.Playback.Hosted.IsOpen));
    }

    [Fact]
    public async Task One_that_is_opened_for_good_stays()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var id = await IdAsync(runtime, "accounts");
        await remote.BalanceAsync("x");
        var open = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await runtime.SyncAsync();
        await remote.BalanceAsync("x");
        await runtime.SyncAsync();
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(id));
        await remote.SetAsync("x", 3);
        Assert.Equal(3, await open.BalanceAsync("x"));
    }

    [Fact]
    public async Task Mutators_that_return_or_reject_are_played_at_the_caller()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        Assert.Equal(3, await remote.AddAsync("x", 3));
        Assert.Equal(5, await remote.AddAsync("x", 2));
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await remote.WithdrawAsync("x", 6));
        await using var transaction = runtime.BeginTx();
        Assert.Equal(6, await remote.AddAsync("x", 1));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(6, await remote.BalanceAsync("x"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Transaction_that_read_a_remote_object_aborts_after_a_later_write(bool writes)
    {
        await using var world = new World();
        var (_, host) = await world.OpenAccountsAsync();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var own = await runtime.OpenAsync<Accounts>("own", OpenMode.Create);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var held = await HeldTransaction.BeginAsync(runtime, async () =>
        {
            await remote.BalanceAsync("x");
            if (writes) await own.SetAsync("x", 1);
        });

        // The object may not leave before the transaction ends, for its versions decide.
        for (var i = 0; i < 3; i++) await own.BalanceAsync("x");
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(await IdAsync(runtime, "accounts")));
        await host.SetAsync("x", 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await held.EndTxAsync());
        Assert.Equal("accounts", aborted.ObjectName);
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(await IdAsync(runtime, "accounts")));
        Assert.Equal(0, await own.BalanceAsync("x"));
    }

    [Fact]
    public async Task Dropped_transaction_lets_remote_objects_go()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var id = await IdAsync(runtime, "accounts");
        await using (runtime.BeginTx()) await remote.BalanceAsync("x");
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(id));
        var ended = runtime.BeginTx();
        await remote.BalanceAsync("x");
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => ended.EndTxAsync(new CancellationToken(canceled: true)).AsTask());
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(id));
    }

    [Fact]
    public async Task R17_a_snapshot_moves_to_where_an_object_is_hosted_if_earlier_reads_are_unchanged()
    {
        await using var world = new World();
        var (_, host) = await world.OpenAccountsAsync();
        var runtime = world.NewRuntime();
        var own = await runtime.OpenAsync<Accounts>("own", OpenMode.Create);
        var elsewhere = await world.NewRuntime().OpenAsync<Accounts>("own", OpenMode.Create);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        await using var transaction = runtime.BeginTx();
        await own.SetAsync("blind", 9);
        Assert.Equal(5, await own.AddAsync("x", 5));
        var before = transaction.SnapshotEnd;
        await OutsideAsync(async () =>
        {
            await elsewhere.SetAsync("y", 4);
            await host.SetAsync("x", 1);
        });
        Assert.Equal(1, await remote.BalanceAsync("x"));
        Assert.True(transaction.SnapshotEnd > before);
        Assert.Equal(4, await own.BalanceAsync("y"));
        Assert.Equal(5, await own.BalanceAsync("x"));
        Assert.Equal(9, await own.BalanceAsync("blind"));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(5, await own.BalanceAsync("x"));

        async Task OutsideAsync(Func<Task> body)
        {
            runtime.LeaveTransaction();
            await body();
        }
    }

    [Fact]
    public async Task R17_a_read_that_fits_no_position_with_the_earlier_ones_is_refused_and_tried_again()
    {
        await using var world = new World();
        var (_, host) = await world.OpenAccountsAsync();
        var runtime = world.NewRuntime();
        var own = await runtime.OpenAsync<Accounts>("own", OpenMode.Create);
        var elsewhere = await world.NewRuntime().OpenAsync<Accounts>("own", OpenMode.Create);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        var seen = new List<(long, long)>();
        var attempts = 0;
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            var x = await own.BalanceAsync("x");
            if (++attempts == 1)
            {
                // A writer elsewhere keeps both equal.
                await elsewhere.SetAsync("x", 1);
                await host.SetAsync("x", 1);
            }

            seen.Add((x, await remote.BalanceAsync("x")));
        });
        Assert.True(outcome.IsCommitted);
        Assert.Equal([(1L, 1L)], seen);
        Assert.Equal(2, attempts);
    }

    [Fact]
    public async Task A_group_is_hosted_together()
    {
        await using var world = new World();
        var hosting = world.NewRuntime();
        Accounts first = null!, second = null!;
        await hosting.OpenGroupAsync("group", g =>
        {
            first = g.Add<Accounts>("first");
            second = g.Add<Accounts>("second");
        });
        var runtime = world.NewRuntime();
        var a = await runtime.OpenRemoteAsync<Accounts>("first", OpenMode.Create);
        var b = await runtime.OpenRemoteAsync<Accounts>("second", OpenMode.Create);
        await first.SetAsync("x", 1);
        await second.SetAsync("x", 2);
        await using var transaction = runtime.BeginTx();
        await b.SetAsync("y", await a.BalanceAsync("x") + await b.BalanceAsync("x"));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(3, await second.BalanceAsync("y"));
        Assert.Empty((await LogModel.ReplayAsync(world.Log)).Decisions);
    }

    [Fact]
    public void R20_remote_object_stays_while_a_decision_is_awaited() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (creator, _) = await world.OpenAccountsAsync("first");
        await creator.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        await creator.DisposeAsync();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("first", OpenMode.Create);
        var id = await IdAsync(runtime, "first");
        await using (var transaction = runtime.BeginTx())
        {
            await remote.BalanceAsync("x");
            await world.Log.AppendToObjectsAsync(
                Entry(1, writer =>
                {
                    WriteOrphan(ref writer, transaction.SnapshotEnd!.Value.Offset, 256, 257);
                    writer.Flush();
                }), [new StreamId(256), new StreamId(257)]);
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        await runtime.SyncAsync();
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(id));

        // The client is gone, so that the decision comes from this host.
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        await runtime.SyncAsync();
        await runtime.SyncAsync();
        Assert.Single((await LogModel.ReplayAsync(world.Log)).Decisions);
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(id));
    });

    [Fact]
    public async Task A_deleted_object_is_told()
    {
        await using var world = new World();
        var (hosting, _) = await world.OpenAccountsAsync();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        await remote.BalanceAsync("x");
        await hosting.Directory.DeleteAsync("accounts");
        await runtime.SyncAsync();
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await remote.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await remote.SetAsync("x", 1));
    }

    [Fact]
    public async Task Writes_to_a_deleted_object_are_told_in_a_transaction()
    {
        await using var world = new World();
        var (hosting, _) = await world.OpenAccountsAsync();
        var runtime = world.NewRuntime();
        var own = await runtime.OpenAsync<Accounts>("own", OpenMode.Create);
        var written = await runtime.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        var held = await HeldTransaction.BeginAsync(runtime, async () =>
        {
            await written.SetAsync("x", 1);
            await own.SetAsync("x", 1);
        });
        await hosting.Directory.DeleteAsync("accounts");
        await runtime.SyncAsync();
        await Assert.ThrowsAsync<TangoObjectDeletedException>(held.EndTxAsync);
        Assert.Equal(0, await own.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_checkpoint_can_be_made_of_one()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(LeavesAtOnce);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts", OpenMode.Create);
        await remote.SetAsync("x", 1);
        var end = await runtime.Checkpoints.WriteAsync(remote);
        Assert.True(end > LogPosition.Zero);
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(await IdAsync(runtime, "accounts")));
        Assert.Equal(1, await remote.BalanceAsync("x"));
    }

    private static async ValueTask<ObjectId> IdAsync(TangoRuntime runtime, string name) =>
        (await runtime.Directory.ListAsync()).First(entry => entry.Name == name).Id;
}
