using Corfu;
using Tango.Checkpoints;
using Tango.Testing;
using static Tango.Tests.Checkpoints.CheckpointWorld;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Checkpoints;

/// <summary>R21: checkpoints are written, found again and loaded; what is not whole does not count.</summary>
public class CheckpointTests
{
    [Theory]
    [InlineData(1 << 20)]
    [InlineData(2048)]
    public async Task Loaded_checkpoint_equals_the_captured_state(int maxPayload)
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = maxPayload });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 300; i++) await accounts.SetAsync($"account-{i}", i);
        await accounts.ClearAsync();
        for (var i = 0; i < 200; i++) await accounts.SetAsync($"account-{i * 7 % 300}", -i);
        Assert.True((await runtime.TransferAsync(accounts, "account-7", 5)).IsCommitted);
        var captured = await runtime.CaptureAsync(accounts);
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        Assert.Equal(captured.End, end);
        var loaded = await world.LoadAsync(Member(256));
        Assert.Equal(Encode(captured), Encode(loaded!));
        Assert.Equal(end, loaded!.End);
    }

    [Fact]
    public async Task Checkpoint_above_the_limit_is_refused_with_sizes_and_not_written()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 160 });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 10; i++) await accounts.SetAsync($"account-{i}", i);
        await runtime.Checkpoints.WriteAsync(accounts);
        for (var i = 0; i < 100; i++) await accounts.SetAsync($"account-{i}", i);
        var tail = await world.TailAsync();
        var refused = await Assert.ThrowsAsync<TangoTooLargeException>(
            async () => await runtime.Checkpoints.WriteAsync(accounts));
        Assert.Equal(CheckpointFormat.MaxContent(2, 160), refused.Limit);
        Assert.True(refused.Size > refused.Limit);
        Assert.Contains($"'accounts' has {refused.Size} bytes", refused.Message, StringComparison.Ordinal);
        Assert.Equal(tail, await world.TailAsync());
        Assert.Equal(9, await accounts.BalanceAsync("account-9"));
    }

    [Fact]
    public async Task The_newest_one_wins_and_an_older_one_serves_older_positions()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        Assert.Null(await world.LoadAsync(Member(256)));
        var ends = new List<LogPosition>();
        for (var i = 0; i < 4; i++)
        {
            await accounts.SetAsync("a", i);
            ends.Add(await runtime.Checkpoints.WriteAsync(accounts));
        }

        Assert.Equal(ends[3], (await world.LoadAsync(Member(256)))!.End);
        for (var i = 0; i < 4; i++)
        {
            Assert.Equal(ends[i], (await world.LoadAsync(ends[i], Member(256)))!.End);
            var below = await world.LoadAsync(new LogPosition(ends[i].Offset - 1), Member(256));
            Assert.Equal(i == 0 ? null : ends[i - 1], below?.End);
        }
    }

    [Fact]
    public async Task Checkpoint_far_below_the_tail_is_found()
    {
        await using var world = new World(new InMemoryLogOptions { Yield = false });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        for (var i = 0; i < 40_000; i++) await world.Log.AppendAsync(default, []);
        Assert.Equal(end, (await world.LoadAsync(Member(256)))!.End);
    }

    /// <summary>A slow host finishes after a faster one that began later.</summary>
    [Fact]
    public async Task Newest_means_the_highest_end_and_not_the_last_in_the_log()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var old = await runtime.CaptureAsync(accounts);
        await accounts.SetAsync("a", 2);
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        await new CheckpointWriter(world.Log, 99, new TangoOptions()).WriteAsync(old, default);
        Assert.Equal(end, (await world.LoadAsync(Member(256)))!.End);
    }

    [Fact]
    public void Two_hosts_at_once_do_each_other_no_harm() => SeededContext.Run(11, async time =>
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 300 }, time);
        var (first, accounts) = await world.OpenAccountsAsync();
        var (second, same) = await world.OpenAccountsAsync();
        for (var i = 0; i < 100; i++) await accounts.SetAsync($"account-{i}", i);
        var one = first.Checkpoints.WriteAsync(accounts).AsTask();
        var other = second.Checkpoints.WriteAsync(same).AsTask();
        await accounts.SetAsync("account-1", 0);
        await Task.WhenAll(one, other);
        var runtimes = (await world.CheckpointEntriesAsync(256)).Select(static entry => entry.Payload.Span[3]).ToList();
        var changes = runtimes.Zip(runtimes.Skip(1)).Count(static pair => pair.First != pair.Second);
        Assert.True(changes > 2, "The chunks of the two do not interleave");
        var newest = LogPosition.Max(await one, await other);
        Assert.Equal(newest, (await world.LoadAsync(Member(256)))!.End);
    });

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task One_that_is_not_whole_is_passed_over_for_an_older_one(bool isTrimmed)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var older = await runtime.Checkpoints.WriteAsync(accounts);
        await accounts.SetAsync("a", 2);
        await runtime.Checkpoints.WriteAsync(accounts);
        var entries = await world.CheckpointEntriesAsync(256);
        if (isTrimmed)
        {
            await world.Log.TrimAsync(entries[^2].Position);
        }
        else
        {
            // A newer one whose checksum is not that of its chunks.
            var final = CheckpointFormat.TryDecodeFinal(entries[^1].Payload)!;
            await world.Log.TrimAsync(entries[^1].Position);
            await world.Log.AppendToObjectsAsync(
                CheckpointFormat.EncodeFinal(final with { Check = final.Check ^ 1 }),
                [CheckpointFormat.StreamOf(new ObjectId(256))]);
        }

        Assert.Equal(older, (await world.LoadAsync(Member(256)))!.End);
    }

    [Fact]
    public async Task One_for_newer_code_is_passed_over_for_an_older_one()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var older = await runtime.Checkpoints.WriteAsync(accounts);
        await accounts.SetAsync("a", 2);
        await runtime.Checkpoints.WriteAsync(accounts);
        var last = (await world.CheckpointEntriesAsync(256))[^1];
        var newer = CheckpointFormat.TryDecodeFinal(last.Payload)! with
        {
            End = (await world.TailAsync()).Next,
            OldestReader = FeatureLevel.Newest + 1,
        };
        await world.Log.TrimAsync(last.Position);
        await world.Log.AppendToObjectsAsync(
            CheckpointFormat.EncodeFinal(newer), [CheckpointFormat.StreamOf(new ObjectId(256))]);
        Assert.Equal(older, (await world.LoadAsync(Member(256)))!.End);
    }

    /// <summary>At every append of a checkpoint in turn, the writer is stopped before or after it.</summary>
    [Fact]
    public async Task One_that_was_cancelled_half_way_does_not_exist()
    {
        var calls = 0;
        var cancelAt = -1;
        CancellationTokenSource? cancel = null;
        await using var world = new World(new InMemoryLogOptions
        {
            MaxPayload = 300,
            AroundAppend = _ =>
            {
                if (calls++ == cancelAt) cancel!.Cancel();
                return ValueTask.CompletedTask;
            },
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 20; i++) await accounts.SetAsync($"account-{i}", i);
        calls = 0;
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        var needed = calls;
        Assert.True(needed > 10);
        // Before and after the final record, and the directory's.
        for (var i = 0; i < needed - 4; i++)
        {
            await accounts.SetAsync("account-1", i);
            (calls, cancelAt, cancel) = (0, i, new CancellationTokenSource());
            await Assert.ThrowsAnyAsync<OperationCanceledException>(
                async () => await runtime.Checkpoints.WriteAsync(accounts, cancel.Token));
            cancelAt = -1;
            Assert.Equal(end, (await world.LoadAsync(Member(256)))!.End);
        }
    }

    [Fact]
    public async Task Lost_and_unknown_appends_are_resolved_or_repeated()
    {
        var random = new Random(5);
        await using var world = new World(new InMemoryLogOptions
        {
            MaxPayload = 300,
            NextAppendFault = () => (AppendFault)random.Next(4),
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 50; i++) await accounts.SetAsync($"account-{i}", i);
        var captured = await runtime.CaptureAsync(accounts);
        await runtime.Checkpoints.WriteAsync(accounts);
        Assert.Equal(Encode(captured), Encode((await world.LoadAsync(Member(256)))!));
    }

    [Fact]
    public async Task A_group_is_checkpointed_at_one_position()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts? first = null, second = null;
        await runtime.OpenGroupAsync("group", group =>
        {
            first = group.Add<Accounts>("first");
            second = group.Add<Accounts>("second");
        });
        await first!.SetAsync("a", 1);
        await second!.SetAsync("b", 2);
        var end = await runtime.Checkpoints.WriteAsync(second);
        var loaded = await world.LoadAsync(Member(256, "first", "group"), Member(257, "second", "group"));
        Assert.Equal(end, loaded!.End);
        Assert.Equal(2, loaded.Members.Length);
        Assert.Equal(end, loaded.Members.Max(static member => member.Versions.LastAny!.Value.Position.Next));
    }

    [Fact]
    public async Task A_stopped_object_is_not_checkpointed()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await runtime.Checkpoints.WriteAsync(accounts);
        await world.Log.AppendToObjectsAsync(new byte[] { 0x90 }, [new StreamId(256)]);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(
            async () => await runtime.Checkpoints.WriteAsync(accounts));
    }

    [Fact]
    public async Task Handles_of_other_runtimes_and_write_only_ones_are_refused()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var other = world.NewRuntime();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await other.Checkpoints.WriteAsync(accounts));
        var remote = await runtime.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        await Assert.ThrowsAsync<TangoNotHostedException>(async () => await runtime.Checkpoints.WriteAsync(remote));
    }

    /// <summary>R20: "first" was read and is hosted, "second" was written; the client died then.</summary>
    [Fact]
    public void Checkpoint_has_decisions_whose_records_are_not_played() => SeededContext.Run(12, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime();
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        await world.NewRuntime().OpenAsync<Accounts>("second", OpenMode.Create);
        var snapshotEnd = (await world.TailAsync()).Offset;
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, snapshotEnd, 256, 257);
                writer.Flush();
            }), [new StreamId(256), new StreamId(257)]);
        await runtime.Checkpoints.WriteAsync(first);
        var loaded = await world.LoadAsync(Member(256, "first"));
        var awaited = Assert.Single(loaded!.Awaited);
        Assert.Equal(new RecordVersion(new LogPosition(snapshotEnd), 0), awaited.Commit);
        Assert.Equal([new StreamId(256), new StreamId(257)], awaited.Streams);
        Assert.True(awaited.IsDecided);
        Assert.Null(awaited.Aborted);

        // The host of the read set publishes the decision meanwhile.
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        await runtime.Checkpoints.WriteAsync(first);
        Assert.Empty((await world.LoadAsync(Member(256, "first")))!.Awaited);
    });
}
