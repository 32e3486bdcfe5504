using Corfu;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>R22: objects under which history was trimmed start anew from a checkpoint, with the same handles.</summary>
public class ReloadTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Open_objects_are_reloaded_from_checkpoints(bool realCursor) => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time, realCursor: realCursor);
        var (writer, first, second) = await OpenPairAsync(world);
        var (behind, firstBehind, secondBehind) = await OpenPairAsync(world);
        await first.SetAsync("x", 1);
        await second.SetAsync("x", 2);
        Assert.Equal(1, await firstBehind.BalanceAsync("x"));

        // The snapshot is older than what is trimmed.
        var stale = await behind.BeginTransferAsync(secondBehind, "x");
        for (var i = 0; i < 10; i++) await first.AddAsync("x", 1);
        await second.AddAsync("x", 1);
        await CheckpointAndTrimAsync(world, writer, first, second);
        await first.AddAsync("x", 1);

        // The record is played while the object is reloaded, which does not tell its caller that it aborts.
        Assert.IsType<TxOutcome.InDoubt>(await stale.EndTxAsync());
        Assert.Equal(12, await firstBehind.BalanceAsync("x"));
        Assert.Equal(3, await secondBehind.BalanceAsync("x"));
        Assert.Equal(13, await firstBehind.AddAsync("x", 1));
        Assert.True((await behind.TransferAsync(secondBehind, "x", 1)).IsCommitted);
        Assert.Equal(13, await first.BalanceAsync("x"));
        Assert.Equal(4, await second.BalanceAsync("x"));
        var third = await behind.OpenAsync<Accounts>("third", OpenMode.Create);
        await third.SetAsync("x", 5);
        Assert.Equal(5, await third.BalanceAsync("x"));
    });

    [Fact]
    public void An_object_without_a_checkpoint_fails_typed_until_there_is_one() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first, second) = await OpenPairAsync(world);
        var (behind, firstBehind, secondBehind) = await OpenPairAsync(world);
        await first.SetAsync("x", 1);
        await second.SetAsync("x", 2);
        await CheckpointAndTrimAsync(world, writer, first);
        for (var attempt = 0; attempt < 2; attempt++)
        {
            Assert.Equal(1, await firstBehind.BalanceAsync("x"));
            await Assert.ThrowsAsync<TangoTrimmedException>(async () => await secondBehind.BalanceAsync("x"));
            await Assert.ThrowsAsync<TangoTrimmedException>(async () => await secondBehind.AddAsync("x", 1));
        }

        await writer.Checkpoints.WriteAsync(second);
        Assert.Equal(2, await secondBehind.BalanceAsync("x"));
    });

    /// <summary>A call whose record was sent and lies below the checkpoint is in doubt; it does not wait for
    /// ever.</summary>
    [Fact]
    public void A_call_below_the_checkpoint_is_in_doubt() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first) = await world.OpenAccountsAsync("first");
        var hold = new StreamHold(world.Log.OpenCursor);
        var behind = world.NewRuntime(hold.OpenCursor, time);
        var firstBehind = await behind.OpenAsync<Accounts>("first", OpenMode.Create);
        await first.SetAsync("x", 1);
        hold.HoldSyncs();
        var reading = firstBehind.BalanceAsync("x").AsTask();
        var adding = firstBehind.AddAsync("x", 1).AsTask();
        Assert.Equal(2, await UntilAsync(first, 2, time));
        await CheckpointAndTrimAsync(world, writer, first);
        hold.ReleaseSyncs();
        await Assert.ThrowsAsync<TangoInDoubtException>(() => adding);
        Assert.Equal(2, await reading);
    });

    /// <summary>Both updates stand in one entry, which is played for the object that is loaded.</summary>
    [Fact]
    public void Update_of_an_object_that_is_not_loaded_yet_is_in_doubt() => SeededContext.Run(4, async time =>
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var holdsNext = false;
        await using var world = new World(new InMemoryLogOptions { AroundAppend = _ => HoldAsync() }, time);
        var (writer, first, second) = await OpenPairAsync(world);
        var (_, firstBehind, secondBehind) = await OpenPairAsync(world);
        await first.SetAsync("x", 1);
        await second.SetAsync("x", 2);
        holdsNext = true;
        var slow = firstBehind.SetAsync("y", 1).AsTask();
        var unloaded = firstBehind.AddAsync("x", 1).AsTask();
        var loaded = secondBehind.AddAsync("x", 1).AsTask();
        await CheckpointAndTrimAsync(world, writer, first, second);
        Assert.Equal(2, await secondBehind.BalanceAsync("x"));
        release.SetResult();
        await slow;
        Assert.Equal(3, await loaded);
        await Assert.ThrowsAsync<TangoInDoubtException>(() => unloaded);
        Assert.Equal(2, await firstBehind.BalanceAsync("x"));

        async ValueTask HoldAsync()
        {
            if (!holdsNext) return;
            holdsNext = false;
            await release.Task;
        }
    });

    /// <summary>Nothing is read on this way, so that nothing else would start the object anew.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Transactions_that_only_write_go_on(bool hosted) => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first) = await world.OpenAccountsAsync("first");
        var behind = world.NewRuntime();
        var firstBehind = hosted
            ? await behind.OpenAsync<Accounts>("first", OpenMode.Create)
            : await behind.OpenWriteOnlyAsync<Accounts>("first", OpenMode.Create);
        // The directory moves on too.
        await writer.OpenAsync<Accounts>("second", OpenMode.Create);
        for (var i = 0; i < 10; i++) await first.SetAsync("x", i);
        await CheckpointAndTrimAsync(world, writer, first);
        await behind.Services.Playback.Player.SyncAsync(default);
        Assert.True((await behind.RunTransactionAsync(async _ => await firstBehind.SetAsync("y", 1))).IsCommitted);
        Assert.Equal(1, await first.BalanceAsync("y"));
    });

    /// <summary>The call that meets the trim is one of the transaction's own.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_transaction_goes_on_over_objects_that_start_anew(bool changed) => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first, second) = await OpenPairAsync(world);
        var (behind, firstBehind, secondBehind) = await OpenPairAsync(world);
        await first.SetAsync("x", 1);
        await second.SetAsync("x", 2);
        Assert.Equal(1, await firstBehind.BalanceAsync("x"));
        await using var reading = behind.BeginTx();
        Assert.Equal(1, await firstBehind.BalanceAsync("x"));
        for (var i = 0; i < 10; i++) await first.AddAsync(changed ? "x" : "y", 1);
        await CheckpointAndTrimAsync(world, writer, first, second);
        Assert.Equal(!changed, (await reading.EndTxAsync()).IsCommitted);

        for (var i = 0; i < 10; i++) await first.AddAsync("y", 1);
        await CheckpointAndTrimAsync(world, writer, first, second);
        await using var fresh = behind.BeginTx(new TransactionOptions { StartFresh = true });
        Assert.Equal(changed ? 11 : 1, await firstBehind.BalanceAsync("x"));
        Assert.Equal(2, await secondBehind.BalanceAsync("x"));
        await secondBehind.SetAsync("x", 3);
        Assert.True((await fresh.EndTxAsync()).IsCommitted);
        Assert.Equal(3, await second.BalanceAsync("x"));
    });

    private static async Task<(TangoRuntime Runtime, Accounts First, Accounts Second)> OpenPairAsync(World world)
    {
        var runtime = world.NewRuntime();
        return (runtime, await runtime.OpenAsync<Accounts>("first", OpenMode.Create),
            await runtime.OpenAsync<Accounts>("second", OpenMode.Create));
    }

    private static async Task<long> UntilAsync(Accounts accounts, long balance, TimeProvider time)
    {
        while (await accounts.BalanceAsync("x") is var found)
        {
            if (found >= balance) return found;
            await Task.Delay(TimeSpan.FromMilliseconds(1), time);
        }

        return 0;
    }

    private static async Task CheckpointAndTrimAsync(World world, TangoRuntime runtime, params Accounts[] accounts)
    {
        var end = await runtime.Checkpoints.WriteDirectoryAsync();
        foreach (var one in accounts) end = LogPosition.Min(end, await runtime.Checkpoints.WriteAsync(one));
        await world.Log.TrimPrefixAsync(end);
    }
}
