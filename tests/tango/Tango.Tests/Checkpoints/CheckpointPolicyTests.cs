using Corfu;
using Tango.Testing;
using static Tango.Tests.Checkpoints.CheckpointWorld;

namespace Tango.Tests.Checkpoints;

/// <summary>Runtimes make checkpoints by themselves, as often as the policy says.</summary>
public class CheckpointPolicyTests
{
    private static readonly TangoOptions s_often = new() { Checkpoints = new CheckpointPolicy { Updates = 10 } };

    [Fact]
    public void One_is_made_after_so_many_updates() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var accounts = await world.NewRuntime(s_often).OpenAsync<Accounts>("accounts", OpenMode.Create);
        await UpdateAsync(accounts, 9, time);
        Assert.Null(await world.LoadAsync(Member(256)));
        await UpdateAsync(accounts, 1, time);
        var first = (await world.LoadAsync(Member(256)))!.End;
        await UpdateAsync(accounts, 9, time);
        Assert.Equal(first, (await world.LoadAsync(Member(256)))!.End);
        await UpdateAsync(accounts, 1, time);
        Assert.True(first < (await world.LoadAsync(Member(256)))!.End);
    });

    [Fact]
    public void Or_after_so_many_bytes() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var options = new TangoOptions { Checkpoints = new CheckpointPolicy { Bytes = 1000 } };
        var accounts = await world.NewRuntime(options).OpenAsync<Accounts>("accounts", OpenMode.Create);
        await accounts.SetAsync(new string('a', 900), 1);
        await UpdateAsync(accounts, 1, time);
        Assert.Null(await world.LoadAsync(Member(256)));
        await accounts.SetAsync(new string('b', 900), 1);
        await UpdateAsync(accounts, 1, time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });

    [Fact]
    public void Claim_on_history_rises_with_checkpoints() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_often with { NewLogMaxSpan = 1 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var before = await ClaimAsync(runtime);
        for (var i = 0; i < 5; i++) await UpdateAsync(accounts, 10, time);
        var after = await ClaimAsync(runtime);
        Assert.True(before.Position < after.Position);
        Assert.Equal((await world.LoadAsync(Member(256)))!.End, after.Checkpoint);
    });

    /// <summary>Both the directory and an object without updates would keep all history.</summary>
    [Fact]
    public void Log_is_trimmed_behind_checkpoints_also_with_idle_objects() => SeededContext.Run(7, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_often with { NewLogMaxSpan = 1 });
        var idle = await runtime.OpenAsync<Accounts>("idle", OpenMode.Create);
        await idle.SetAsync("x", 3);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        for (var i = 0; i < 20; i++) await UpdateAsync(accounts, 10, time);
        var tail = await world.TailAsync();
        var point = await runtime.Log.ReadTrimPointAsync();
        Assert.True(tail - point.Released < 100, $"{point.Released} of {tail}");
        var (late, lateIdle) = await world.OpenAccountsAsync("idle");
        Assert.Equal(3, await lateIdle.BalanceAsync("x"));
        Assert.Equal(await accounts.SnapshotAsync(),
            await (await late.OpenAsync<Accounts>("accounts", OpenMode.Create)).SnapshotAsync());
    });

    /// <summary>The directory's records of checkpoints made its own next checkpoint due.</summary>
    [Fact]
    public void Checkpoint_records_do_not_make_another_checkpoint_due() => SeededContext.Run(9, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(new TangoOptions { Checkpoints = new CheckpointPolicy { Updates = 1 } });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await UpdateAsync(accounts, 3, time);
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        await runtime.SyncAsync();
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        var tail = await world.TailAsync();
        await Task.Delay(TimeSpan.FromSeconds(10), time);
        await runtime.SyncAsync();
        Assert.Equal(tail, await world.TailAsync());
    });

    [Fact]
    public void Checkpoints_do_not_trim_the_log_where_the_policy_says_so() => SeededContext.Run(8, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(new TangoOptions
        {
            NewLogMaxSpan = 1,
            Checkpoints = new CheckpointPolicy { Updates = 10, TrimsLog = false },
        });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        for (var i = 0; i < 20; i++) await UpdateAsync(accounts, 10, time);
        Assert.Equal(LogPosition.Zero, (await runtime.Log.ReadTrimPointAsync()).Released);
    });

    [Fact]
    public void Without_a_policy_there_are_none() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var options = new TangoOptions { Checkpoints = null };
        var accounts = await world.NewRuntime(options).OpenAsync<Accounts>("accounts", OpenMode.Create);
        await UpdateAsync(accounts, 100, time);
        Assert.Null(await world.LoadAsync(Member(256)));
    });

    /// <summary>The transaction that plays the update at which one is due has no part in it.</summary>
    [Fact]
    public void Transaction_has_no_part_in_a_checkpoint_made_due() => SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_often);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (_, same) = await world.OpenAccountsAsync();
        for (var i = 0; i < 10; i++) await same.SetAsync("a", i);
        await using var transaction = runtime.BeginTx();
        await runtime.SyncAsync();
        await accounts.SetAsync("a", 1);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });

    [Fact]
    public void One_that_fails_is_tried_again() => SeededContext.Run(6, async time =>
    {
        var fails = false;
        await using var world = new World(new InMemoryLogOptions
        {
            MaxPayload = 200,
            AroundAppend = _ => fails ? throw new IOException("For a while") : ValueTask.CompletedTask,
        }, time);
        var accounts = await world.NewRuntime(s_often).OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (_, other) = await world.OpenAccountsAsync();
        for (var i = 0; i < 10; i++) await other.SetAsync("a", i);
        fails = true;
        Assert.Equal(9, await accounts.BalanceAsync("a"));
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        fails = false;
        Assert.Null(await world.LoadAsync(Member(256)));
        await UpdateAsync(accounts, 5, time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public async Task A_policy_without_sense_is_refused(long updates, long bytes)
    {
        await using var world = new World();
        var options = new TangoOptions { Checkpoints = new CheckpointPolicy { Updates = updates, Bytes = bytes } };
        Assert.Contains("Checkpoints", Assert.Throws<ArgumentException>(() => world.NewRuntime(options)).Message);
    }

    private static async Task UpdateAsync(Accounts accounts, int updates, TimeProvider time)
    {
        for (; updates > 0; updates--) await accounts.SetAsync("a", updates);
        // Played here, and what follows in the background is done.
        await accounts.BalanceAsync("a");
        await Task.Delay(TimeSpan.FromSeconds(1), time);
    }

    private static async Task<TangoClaim> ClaimAsync(TangoRuntime runtime) =>
        (await runtime.Log.ReadTrimPointAsync()).Claims.Single(static claim => claim.Name == "accounts");
}
