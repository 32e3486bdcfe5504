using Corfu;

namespace Tango.Tests;

/// <summary>An object that is opened catches up beside playback of the others and joins them at one position.</summary>
public class OpeningTests
{
    private static readonly StreamId s_first = new(256);

    [Fact]
    public void Reads_of_open_objects_go_on_while_another_one_catches_up() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first) = await world.OpenAccountsAsync("first");
        var hold = new StreamHold(world.Log.OpenCursor);
        var runtime = world.NewRuntime(hold.OpenCursor, time);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        await first.SetAsync("x", 1);
        hold.Hold(s_first);
        var opening = runtime.OpenAsync<Accounts>("first", OpenMode.Create).AsTask();
        await hold.Reached(s_first);
        await second.SetAsync("y", 2);
        Assert.Equal(2, await second.BalanceAsync("y"));
        Assert.True((await runtime.TransferAsync(second, "y", 3)).IsCommitted);
        var third = await runtime.OpenAsync<Accounts>("third", OpenMode.Create);
        Assert.Equal(0, await third.BalanceAsync("y"));
        Assert.False(opening.IsCompleted);
        await first.SetAsync("x", 4);
        hold.Release(s_first);
        var here = await opening;
        Assert.Equal(4, await here.BalanceAsync("x"));
        Assert.Equal(5, await second.BalanceAsync("y"));
        await writer.DisposeAsync();
    });

    [Fact]
    public void Cancelled_opening_does_not_disturb_playback_or_a_later_opening() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (_, first) = await world.OpenAccountsAsync("first");
        var hold = new StreamHold(world.Log.OpenCursor);
        var runtime = world.NewRuntime(hold.OpenCursor, time);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        await first.SetAsync("x", 1);
        for (var attempt = 0; attempt < 2; attempt++)
        {
            hold.Hold(s_first);
            using var cancel = new CancellationTokenSource();
            var opening = runtime.OpenAsync<Accounts>("first", OpenMode.Create, cancel.Token).AsTask();
            await hold.Reached(s_first);
            cancel.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => opening);
            await second.SetAsync("y", 2);
            Assert.Equal(2, await second.BalanceAsync("y"));
        }

        // Still held: entries of its stream do not reach playback any more.
        await first.SetAsync("x", 5);
        Assert.Equal(2, await second.BalanceAsync("y"));
        hold.Release(s_first);
        Assert.Equal(5, await (await runtime.OpenAsync<Accounts>("first", OpenMode.Create)).BalanceAsync("x"));
    });

    [Fact]
    public void A_cancelled_caller_does_not_end_the_opening_for_another() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var (_, first) = await world.OpenAccountsAsync("first");
        await first.SetAsync("x", 1);
        var hold = new StreamHold(world.Log.OpenCursor);
        var runtime = world.NewRuntime(hold.OpenCursor, time);
        hold.Hold(s_first);
        using var cancel = new CancellationTokenSource();
        var cancelled = runtime.OpenAsync<Accounts>("first", OpenMode.Create, cancel.Token).AsTask();
        var other = runtime.OpenAsync<Accounts>("first", OpenMode.Create).AsTask();
        await hold.Reached(s_first);
        cancel.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.False(other.IsCompleted);
        hold.Release(s_first);
        Assert.Equal(1, await (await other).BalanceAsync("x"));
    });

    /// <summary>Objects join while others write to them, alone and in transactions over both; each state is exactly
    /// what another runtime shows.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Objects_join_in_the_middle_of_updates(bool realCursor)
    {
        for (var seed = 1; seed <= 60; seed++)
        {
            SeededContext.Run(seed, async time =>
            {
                await using var world = new World(time: time, realCursor: realCursor);
                var (writer, first) = await world.OpenAccountsAsync("first");
                var second = await writer.OpenAsync<Accounts>("second", OpenMode.Create);
                for (var i = 0; i < 20; i++) await first.AddAsync("x", 1);
                var runtime = world.NewRuntime();
                var writing = WriteAsync(writer, first, second);
                var opened = await Task.WhenAll(
                    runtime.OpenAsync<Accounts>("first", OpenMode.Create).AsTask(),
                        runtime.OpenAsync<Accounts>("second", OpenMode.Create).AsTask());
                Assert.True((await runtime.TransferAsync(opened[0], "z", 1)).IsCommitted);
                await writing;
                foreach (var key in new[] { "x", "y", "z" })
                {
                    Assert.Equal(await first.BalanceAsync(key), await opened[0].BalanceAsync(key));
                    Assert.Equal(await second.BalanceAsync(key), await opened[1].BalanceAsync(key));
                }

                Assert.Equal(60, await opened[0].BalanceAsync("x"));
            });
        }
    }

    /// <summary>
    /// R20: half of what an orphan read is open, the other half is being opened. Neither playback decides it alone: the
    /// write that made it stale is known to the one, what it writes is played by the other.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_commit_record_that_read_an_open_and_an_opening_object_is_decided_from_both(bool firstIsWritten) =>
        SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var (writer, first) = await world.OpenAccountsAsync("first");
        var second = await writer.OpenAsync<Accounts>("second", OpenMode.Create);
        await first.SetAsync("y", 1);
        await second.SetAsync("y", 1);
        var snapshotEnd = (await world.TailAsync()).Offset;
        await (firstIsWritten ? first : second).SetAsync("x", 1);
        await writer.DisposeAsync();
        var hold = new StreamHold(world.Log.OpenCursor);
        var runtime = world.NewRuntime(hold.OpenCursor, time);
        var here = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        hold.Hold(s_first);
        var opening = runtime.OpenAsync<Accounts>("first", OpenMode.Create).AsTask();
        await hold.Reached(s_first);
        await world.Log.AppendToObjectsAsync(
            RawRecords.Entry(2, record =>
            {
                // The second one is valid only if the first one does not commit.
                RawRecords.WriteOrphan(ref record, snapshotEnd, [256, 257], 257);
                RawRecords.WriteOrphan(ref record, snapshotEnd + 1, [256, 257], 256);
                record.Flush();
            }), [s_first, new StreamId(257)]);
        var balance = here.BalanceAsync("x").AsTask();
        await Task.Delay(TimeSpan.FromMilliseconds(50), time);
        Assert.False(balance.IsCompleted);
        hold.Release(s_first);
        Assert.Equal(firstIsWritten ? 0 : 1, await balance);
        Assert.Equal(7, await (await opening).BalanceAsync("x"));
        await Task.Delay(TimeSpan.FromSeconds(2), time);
        Assert.Equal(2, (await LogModel.ReplayAsync(world.Log)).Decisions.Count);
    });

    private static async Task WriteAsync(TangoRuntime runtime, Accounts first, Accounts second)
    {
        for (var i = 0; i < 40; i++)
        {
            await first.AddAsync("x", 1);
            await runtime.RunTransactionAsync(async _ =>
                await second.SetAsync("y", await first.BalanceAsync("x") + await second.BalanceAsync("y")));
        }
    }
}
