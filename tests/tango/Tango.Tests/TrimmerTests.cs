using Corfu;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>The log is trimmed below an applied record, and never what a claim, a wish or an undeclared raw entry
/// keeps.</summary>
public class TrimmerTests
{
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Trim_removes_history_below_the_last_checkpoint_but_one()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await UpdateAsync(accounts, 20);
        await CheckpointAllAsync(runtime);
        await UpdateAsync(accounts, 5);
        await CheckpointAllAsync(runtime);
        var point = await runtime.Log.ReadTrimPointAsync();
        Assert.Equal((LogPosition.Zero, new LogPosition(20)), (point.Released, point.Claims[0].Position));

        Assert.Equal(new LogPosition(20), await runtime.Log.TrimAsync());
        Assert.Equal(20, await FirstLeftAsync(world));
        await accounts.SetAsync("x", 7);
        Assert.Equal(7, await accounts.BalanceAsync("x"));
        // Nothing more to do, and nothing is written for it.
        var tail = await world.TailAsync();
        Assert.Equal(new LogPosition(20), await runtime.Log.TrimAsync());
        Assert.Equal(tail, await world.TailAsync());
    }

    [Fact]
    public async Task Trim_interrupted_after_the_release_record_is_finished_by_another_runtime()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await UpdateAsync(accounts, 20);
        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);
        var other = world.NewRuntime();
        await other.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var released = await runtime.Services.Handle.ReleaseAsync(new LogPosition(9), default);
        Assert.Equal((9, 0), (released.Offset, await FirstLeftAsync(world)));
        await other.Log.HoldAsync("reader", new LogPosition(9), s_lease);
        await other.Log.TrimAsync();
        Assert.Equal(9, await FirstLeftAsync(world));
    }

    [Fact]
    public async Task Undeclared_raw_entries_keep_the_log_from_there_on_and_are_named_once()
    {
        await using var world = new World();
        var lines = new LogLines();
        await using var runtime = new TangoRuntime(world.Log, world.Log.OpenCursor, TimeProvider.System,
            SystemEntropy.Instance, new TangoOptions { NewLogMaxSpan = 1 }, lines);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await UpdateAsync(accounts, 3);
        var orders = StreamId.FromName("orders");
        await world.Log.AppendAsync("order"u8.ToArray(), [orders]);
        await UpdateAsync(accounts, 3);
        await world.Log.AppendAsync("in no stream"u8.ToArray(), []);
        await UpdateAsync(accounts, 20);
        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);

        Assert.Equal(4, (await runtime.Log.TrimAsync()).Offset);
        Assert.Equal(4, (await runtime.Log.TrimAsync()).Offset);
        Assert.Contains($"stream {orders}", Assert.Single(lines.Written), StringComparison.Ordinal);

        await runtime.Log.DeclareStreamAsync(orders, "orders", null);
        Assert.Equal(8, (await runtime.Log.TrimAsync()).Offset);
        await runtime.Log.DeclareStreamAsync(RuntimeLog.NoStream, null, new LogPosition(12));
        Assert.Equal(12, (await runtime.Log.TrimAsync()).Offset);
        Assert.Equal(12, await FirstLeftAsync(world));
        await runtime.Log.DeclareStreamAsync(RuntimeLog.NoStream, null, null);
        Assert.True((await runtime.Log.TrimAsync()).Offset > 12);
        await Assert.ThrowsAsync<TangoRejectedException>(
            async () => await runtime.Log.DeclareStreamAsync(orders, "orders", new LogPosition(8)));
        await Assert.ThrowsAsync<TangoRejectedException>(
            async () => await runtime.Log.DeclareStreamAsync(ObjectId.FirstUser.Stream, null, null));
    }

    [Fact]
    public async Task Trim_keeps_the_positions_and_the_time_that_users_retain()
    {
        var time = new VirtualTime();
        await using var world = new World(new InMemoryLogOptions { Time = time }, time);
        var (runtime, accounts) = await OpenAsync(world);
        await UpdateAsync(accounts, 10);
        Pass(time, TimeSpan.FromHours(2));
        await UpdateAsync(accounts, 20);
        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);

        await runtime.Log.RetainAsync(null, TimeSpan.FromHours(1));
        Assert.Equal(11, (await runtime.Log.TrimAsync()).Offset);
        await runtime.Log.RetainAsync((await world.TailAsync()).Offset - 14, null);
        // The record itself is one more.
        Assert.Equal(15, (await runtime.Log.TrimAsync()).Offset);
        await runtime.Log.RetainAsync(null, null);
        Assert.True((await runtime.Log.TrimAsync()).Offset > 15);
        var point = await runtime.Log.ReadTrimPointAsync();
        Assert.Equal((null, null), (point.KeepPositions, point.KeepTime));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await runtime.Log.RetainAsync(-1, null));
    }

    [Fact]
    public async Task A_lease_that_is_not_renewed_expires_on_the_observers_clock()
    {
        var time = new VirtualTime();
        await using var world = new World(null, time);
        var (runtime, accounts) = await OpenAsync(world);
        await UpdateAsync(accounts, 20);
        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);
        await runtime.Log.HoldAsync("gone", new LogPosition(5), s_lease);
        await runtime.Log.HoldAsync("alive", new LogPosition(7), s_lease);
        Assert.Equal(5, (await runtime.Log.TrimAsync()).Offset);
        Pass(time, s_lease / 2);
        var version = await runtime.Log.HoldAsync("alive", new LogPosition(7), s_lease);
        Assert.Equal(5, (await runtime.Log.TrimAsync()).Offset);
        Pass(time, s_lease / 2);
        Assert.Equal(7, (await runtime.Log.TrimAsync()).Offset);
        await Assert.ThrowsAsync<TangoRejectedException>(
            async () => await runtime.Log.HoldAsync("gone", new LogPosition(5), s_lease));
        await runtime.Log.LetGoAsync("alive", version);
        Assert.True((await runtime.Log.TrimAsync()).Offset > 7);
    }

    [Fact]
    public async Task Trim_by_hand_is_refused_with_the_names_of_the_claims()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await UpdateAsync(accounts, 20);
        var refused = await Assert.ThrowsAsync<TangoClaimedException>(
            async () => await runtime.Log.TrimBelowAsync(new LogPosition(10)));
        Assert.Equal(
            [(TangoClaimKind.Directory, "tango/directory"), (TangoClaimKind.Object, "accounts")],
            refused.Claims.Select(claim => (claim.Kind, claim.Name)));
        Assert.Equal(0, await FirstLeftAsync(world));

        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);
        await runtime.Log.TrimBelowAsync(new LogPosition(10));
        Assert.Equal(10, await FirstLeftAsync(world));
        Assert.Equal(10, (await runtime.Log.ReadTrimPointAsync()).Released.Offset);
        await Assert.ThrowsAsync<TangoRejectedException>(
            async () => await runtime.Log.HoldAsync("late", new LogPosition(9), s_lease));
    }

    [Fact]
    public async Task Log_without_objects_is_trimmed_by_hand_without_an_append()
    {
        await using var world = new World();
        for (var i = 0; i < 5; i++) await world.Log.AppendAsync("raw"u8.ToArray(), []);
        await world.NewRuntime().Log.TrimBelowAsync(new LogPosition(3));
        Assert.Equal((3, 5), (await FirstLeftAsync(world), (await world.TailAsync()).Offset));
    }

    /// <summary>A position of the directory's stream that was granted and closed may stand below its first record. A
    /// program that plays the directory from the beginning meets it.</summary>
    [Fact]
    public async Task Log_is_kept_whole_until_the_directory_has_a_checkpoint()
    {
        await using var world = new World();
        await world.Log.AppendAsync("raw"u8.ToArray(), []);
        var (runtime, accounts) = await OpenAsync(world);
        var refused = await Assert.ThrowsAsync<TangoClaimedException>(
            async () => await runtime.Log.TrimBelowAsync(new LogPosition(1)));
        Assert.Contains("'tango/directory' at 0", refused.Message);

        await UpdateAsync(accounts, 20);
        for (var i = 0; i < 2; i++) await CheckpointAllAsync(runtime);
        await runtime.Log.TrimBelowAsync(new LogPosition(1));
        Assert.Equal(1, await FirstLeftAsync(world));
    }

    [Fact]
    public async Task Calls_within_a_transaction_are_refused()
    {
        await using var world = new World();
        var (runtime, _) = await OpenAsync(world);
        await using var transaction = runtime.BeginTx();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await runtime.Log.TrimAsync());
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await runtime.Log.ReadTrimPointAsync());
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await runtime.Log.ReadLevelAsync());
    }

    private static async Task<(TangoRuntime Runtime, Accounts Accounts)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 1 });
        return (runtime, await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create));
    }

    private static async Task UpdateAsync(Accounts accounts, int count)
    {
        for (var i = 0; i < count; i++) await accounts.SetAsync("x", i);
    }

    /// <summary>Tells the directory of checkpoints; none are loaded here.</summary>
    private static async Task CheckpointAllAsync(TangoRuntime runtime)
    {
        await runtime.SyncAsync();
        var end = runtime.Log.PlayedTo;
        foreach (var cohort in runtime.Services.Playback.Directory.Published.Claims.Cohorts.Keys)
            await runtime.Services.Handle.CheckpointedAsync(cohort, end, end, null, default);
    }

    private static async Task<long> FirstLeftAsync(World world)
    {
        for (var offset = 0L; ; offset++)
        {
            var read = await world.Log.ReadManyAsync([new LogPosition(offset)], ReadDetail.State);
            if (read[0].State != PageState.Trimmed) return offset;
        }
    }

    private static void Pass(VirtualTime time, TimeSpan span)
    {
        using var timer = time.CreateTimer(static _ => { }, null, span, Timeout.InfiniteTimeSpan);
        while (time.FireNext())
        {
        }
    }
}
