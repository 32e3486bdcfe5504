using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Tests.Checkpoints;
using Tango.Tests.Feeds;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Groups;

/// <summary>R20: a member is deleted by a record in its cohort's stream, and the group goes on without it.</summary>
public class RemovedMembersTests
{
    private static readonly ObjectId s_late = new(258);

    private static readonly TangoOptions s_onDemand = new() { NewLogMaxSpan = 1, Checkpoints = null };

    private static TangoOptions Often => s_onDemand with
    {
        Checkpoints = new CheckpointPolicy { Updates = 10 },
        Types = new TangoTypeRegistry(),
    };

    [Fact]
    public async Task A_removed_member_is_gone_for_every_handle_and_the_group_goes_on()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        var remote = await world.NewRuntime().OpenRemoteAsync<Accounts>("late");
        var writer = world.NewRuntime();
        var unseen = await writer.OpenWriteOnlyAsync<Accounts>("late");
        await newer.Late!.SetAsync("x", 1);
        Assert.Equal(1, await remote.BalanceAsync("x"));

        await older.Runtime.Directory.DeleteAsync("late");
        var entry = (await world.Log.ReadManyAsync([await world.TailAsync() + -1]))[0].Entry!;
        Assert.Equal([1UL, 256, 258], entry.Streams.Select(static header => header.Stream.Value));
        // The runtime has not played the record: the call stands behind it.
        var told = await RequireDeletedAsync(async () => await newer.Late.WithdrawAsync("x", 1));
        Assert.Equal(("late", s_late), (told.ObjectName, told.ObjectId));
        await writer.SyncAsync();
        foreach (var old in new[] { newer.Late, remote })
            await RequireDeletedAsync(async () => await old.BalanceAsync("x"));
        foreach (var old in new[] { newer.Late, remote, unseen })
            await RequireDeletedAsync(async () => await old.SetAsync("x", 2));
        await RequireDeletedAsync(async () => await newer.Runtime.RunTransactionAsync(
            async _ => await newer.First.SetAsync("x", await newer.Late.BalanceAsync("x"))));

        await newer.First.SetAsync("x", 3);
        Assert.Equal(3, await older.First.BalanceAsync("x"));
        Assert.Equal(["first", "second"], (await older.Runtime.Directory.ListAsync()).Select(static one => one.Name));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await newer.Runtime.Directory.DeleteAsync("late"));
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await newer.Runtime.Directory.DeleteAsync("first"));
    }

    [Fact]
    public async Task A_program_that_names_a_removed_member_adds_another_one()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 1);
        await older.Runtime.Directory.DeleteAsync("late");
        var again = await Group.OpenNewerAsync(world);
        Assert.Equal(0, await again.Late!.BalanceAsync("x"));
        await again.Late.SetAsync("x", 5);
        Assert.Equal(5, await (await older.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("x"));
        await RequireDeletedAsync(async () => await newer.Late.BalanceAsync("x"));
        Assert.Equal(new ObjectId(259), (await again.Runtime.Services.Handle.FindAsync("late", default))!.Id);
        // With it, or as an object of its own, the name is its.
        await older.Runtime.Directory.DeleteAsync("late");
        await older.Runtime.OpenAsync<Accounts>("late", OpenMode.Create);
        await older.Runtime.Directory.DeleteGroupAsync("group");
        Assert.Equal("late", Assert.Single(await older.Runtime.Directory.ListAsync()).Name);
    }

    /// <summary>A newer program added the member, wrote it, and was withdrawn.</summary>
    [Fact]
    public void A_group_whose_member_no_program_knows_is_checkpointed_once_the_member_is_removed() =>
        SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var older = await Group.OpenAsync(world.NewRuntime(Often), isNewer: false);
        var newer = world.NewRuntime();
        await (await Group.OpenUnknownAsync(newer)).PutAsync(5);
        await newer.DisposeAsync();
        await UpdateAsync(older.First, 20, time);
        var held = (await older.Runtime.Log.ReadTrimPointAsync()).Claims.Single(static claim => claim.Group == "group");
        Assert.Equal(("first", (LogPosition?)null), (held.Name, held.Checkpoint));
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.Checkpoints.WriteAsync(older.First));

        await older.Runtime.Directory.DeleteAsync("unknown");
        await UpdateAsync(older.First, 20, time);
        await RequireTrimmedAsync(world, older.Runtime);
        var late = await Group.OpenOlderAsync(world);
        Assert.Equal(9, await late.First.BalanceAsync("a"));
        var knows = world.NewRuntime();
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await knows.OpenAsync<Fragile>("unknown"));
        Assert.Equal(0, await (await Group.OpenUnknownAsync(knows)).SumAsync());
        Assert.Equal(9, await (await knows.OpenAsync<Accounts>("first")).BalanceAsync("a"));
    });

    [Fact]
    public void A_group_that_is_not_open_is_checkpointed_without_the_removed_members_type() =>
        SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var older = await Group.OpenAsync(world.NewRuntime(s_onDemand), isNewer: false);
        await older.First.SetAsync("x", 3);
        var newer = world.NewRuntime();
        await (await Group.OpenUnknownAsync(newer)).PutAsync(5);
        await newer.DisposeAsync();
        await older.Runtime.DisposeAsync();
        var runtime = world.NewRuntime(Often);
        var busy = await runtime.OpenAsync<Accounts>("busy", OpenMode.Create);
        await UpdateAsync(busy, 20, time);
        Assert.Equal("first", (await runtime.Log.ReadTrimPointAsync()).Claims[0].Name);
        await Assert.ThrowsAsync<TangoDirectoryException>(async () => await runtime.Checkpoints.WriteAsync("first"));

        await runtime.Directory.DeleteAsync("unknown");
        await UpdateAsync(busy, 20, time);
        await RequireTrimmedAsync(world, runtime);
        await runtime.Checkpoints.WriteAsync("first");
        Assert.Equal(3, await (await Group.OpenOlderAsync(world)).First.BalanceAsync("x"));
    });

    /// <summary>Whether it plays the record or loads a checkpoint from behind it, a runtime has the same of the
    /// member, whatever is written to it later.</summary>
    [Fact]
    public async Task Writes_behind_the_removal_have_no_effect_at_any_host()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 1);
        // The writer has not heard of the removal.
        var writer = world.NewRuntime();
        var (first, late) = (await writer.OpenWriteOnlyAsync<Accounts>("first"),
            await writer.OpenWriteOnlyAsync<Accounts>("late"));
        await newer.Runtime.Directory.DeleteAsync("late");
        await older.Runtime.Checkpoints.WriteAsync(older.First);
        var loaded = await Group.OpenOlderAsync(world);
        var outcome = await writer.RunTransactionAsync(async _ =>
        {
            await late.SetAsync("x", 7);
            await first.SetAsync("x", 7);
        });
        Assert.True(outcome.IsCommitted);
        var captured = new List<CohortSnapshot>();
        foreach (var host in new[] { older, newer, loaded })
        {
            Assert.Equal(7, await host.First.BalanceAsync("x"));
            captured.Add(await host.Runtime.CaptureAsync(host.First));
        }

        Assert.Equal([false, false, true], captured[0].Members.Select(static member => member.IsRemoved));
        Assert.Equal(3, captured[2].Members.Length);
        Assert.Single(captured.Select(CheckpointWorld.Encode).Distinct());
    }

    [Fact]
    public async Task A_transaction_that_read_the_member_aborts_at_every_host()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        var transaction = await HeldTransaction.BeginAsync(
            newer.Runtime, async () => await newer.First.SetAsync("x", 1 + await newer.Late!.BalanceAsync("x")));
        await older.Runtime.Directory.DeleteAsync("late");
        await older.Runtime.Checkpoints.WriteAsync(older.First);
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        foreach (var host in new[] { older, newer, await Group.OpenOlderAsync(world) })
            Assert.Equal(0, await host.First.BalanceAsync("x"));
    }

    /// <summary>A dead client's commit record read the member and wrote an object of another cohort, whose host does
    /// not have the group open. No host of the group is left.</summary>
    [Theory]
    [InlineData(false, 7)]
    [InlineData(true, 0)]
    public void A_record_that_read_the_member_is_decided_by_where_the_removal_stands(bool isBehind, int balance) =>
        SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("y", 1);
        var (_, alone) = await world.OpenAccountsAsync("alone");
        var read = await world.TailAsync();
        if (isBehind) await older.Runtime.Directory.DeleteAsync("late");
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, read.Offset, 258, 259);
                writer.Flush();
            }), [new StreamId(258), new StreamId(259)]);
        if (!isBehind) await older.Runtime.Directory.DeleteAsync("late");
        await older.Runtime.DisposeAsync();
        await newer.Runtime.DisposeAsync();
        Assert.Equal(balance, await alone.BalanceAsync("x"));
        // A host of the group agrees with what was decided.
        Assert.Equal(0, await (await Group.OpenOlderAsync(world)).First.BalanceAsync("x"));
    });

    /// <summary>The checkpoint has the member's state, of a type that the loader does not know; the removal stands
    /// above.</summary>
    [Fact]
    public async Task A_checkpoint_from_before_the_removal_is_played_on()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 2);
        var newer = world.NewRuntime();
        var unknown = await Group.OpenUnknownAsync(newer);
        await unknown.PutAsync(5);
        await newer.OpenAsync<Accounts>("first");
        var end = await newer.Checkpoints.WriteAsync(unknown);
        await older.Runtime.Directory.DeleteAsync("unknown");
        await newer.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);
        var late = await Group.OpenOlderAsync(world);
        Assert.Equal(2, await late.First.BalanceAsync("x"));
        await late.Runtime.Checkpoints.WriteAsync(late.First);
        var snapshot = await late.Runtime.CaptureAsync(late.First);
        Assert.Equal([false, false, true], snapshot.Members.Select(static member => member.IsRemoved));
    }

    [Fact]
    public async Task The_past_of_a_removed_member_can_be_read_and_forked()
    {
        await using var world = new World();
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 2);
        var before = await world.TailAsync();
        await newer.Runtime.Directory.DeleteAsync("late");
        var past = await newer.Runtime.History.OpenAsync(before);
        Assert.Equal(2, await (await past.OpenAsync<Accounts>("late")).BalanceAsync("x"));
        past = await newer.Runtime.History.OpenAsync(before.Next);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await past.OpenAsync<Accounts>("late"));
        Assert.Equal(0, await (await past.OpenAsync<Accounts>("first")).BalanceAsync("x"));
        await newer.Runtime.History.ForkAsync("late", before, "late");
        Assert.Equal(2, await (await newer.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("x"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_feed_of_a_removed_member_ends_at_the_removal(bool isTrimmed)
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 2);
        await using var feed = newer.Runtime.History.ChangesAsync<Accounts>(
            "late", LogPosition.Zero, FeedReader.Quick, TestContext.Current.CancellationToken).GetAsyncEnumerator();
        Assert.True(await feed.MoveNextAsync());
        await newer.Late.SetAsync("x", 3);
        await newer.Runtime.Directory.DeleteAsync("late");
        if (isTrimmed)
        {
            var end = await older.Runtime.Checkpoints.WriteAsync(older.First);
            await older.Runtime.Checkpoints.WriteDirectoryAsync();
            await world.Log.TrimPrefixAsync(end);
        }
        else
        {
            Assert.True(await feed.MoveNextAsync());
            Assert.Equal("Set x 3", FeedReader.Describe(feed.Current));
        }

        await RequireDeletedAsync(async () => await feed.MoveNextAsync());
    }

    [Fact]
    public void A_checkpoint_says_that_a_member_was_removed()
    {
        var member = CheckpointWorld.Member(256);
        var versions = VersionTableState.WrittenAt(new LogPosition(7));
        var content = new ChunkedBuffer();
        var parts = CheckpointContent.Write(content, new CohortSnapshot(
            new LogPosition(9), [new MemberSnapshot(member.Entry, null, versions) { IsRemoved = true }], []));
        Assert.Equal(0, parts[1]);
        var head = content.Cut((int)content.Length).Single().ToArray();
        Assert.Equal([2, 0x90], head[^2..]);
        var read = Assert.Single(Read().Members);
        Assert.Equal((true, (TangoObject?)null), (read.IsRemoved, read.View));
        Assert.Equal(versions.LastAny, read.Versions.LastAny);
        head[^2] = 3;
        Assert.Throws<TangoFormatException>(Read);

        CohortSnapshot Read() => CheckpointContent.Read([head, ReadOnlyMemory<byte>.Empty], [member]);
    }

    private static async Task<TangoObjectDeletedException> RequireDeletedAsync(Func<Task> act) =>
        await Assert.ThrowsAsync<TangoObjectDeletedException>(act);

    private static async Task RequireTrimmedAsync(World world, TangoRuntime runtime)
    {
        var tail = await world.TailAsync();
        var point = await runtime.Log.ReadTrimPointAsync();
        Assert.True(tail - point.Released < 100, $"{point.Released} of {tail}: {string.Join(", ", point.Claims)}");
    }

    private static async Task UpdateAsync(Accounts accounts, int rounds, TimeProvider time)
    {
        for (; rounds > 0; rounds--)
        {
            for (var i = 0; i < 10; i++) await accounts.SetAsync("a", i);
            await accounts.BalanceAsync("a");
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }
    }
}
