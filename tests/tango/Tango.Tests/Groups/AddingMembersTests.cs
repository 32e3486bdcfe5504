using Corfu;
using Tango.Testing;

namespace Tango.Tests.Groups;

/// <summary>Which members are added, by whom, and what is refused.</summary>
public class AddingMembersTests
{
    [Fact]
    public async Task A_member_that_was_only_reserved_is_added_by_the_next_that_opens_the_group()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var directory = older.Runtime.Services.Handle;
        var member = new TangoDirectory.NewObject("late", "test-accounts", 16);
        var reserved = await directory.ReserveMemberAsync("group", member, default);
        Assert.Equal(reserved, await directory.ReserveMemberAsync("group", member, default));
        Assert.DoesNotContain(reserved, await older.Runtime.Directory.ListAsync());
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.OpenAsync<Accounts>("late", OpenMode.Create));
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.Directory.RenameAsync("first", "late"));

        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 1);
        var added = (await older.Runtime.Directory.ListAsync()).Single(static entry => entry.Name == "late");
        Assert.Equal((reserved.Id, 16), (added.Id, added.VersionCapacity));
    }

    [Fact]
    public async Task Programs_that_add_members_at_once_get_all_members()
    {
        await using var world = new World(new Testing.InMemoryLogOptions { Yield = true });
        var opened = await Task.WhenAll(Enumerable.Range(0, 6).Select(async i =>
        {
            var runtime = world.NewRuntime();
            Accounts own = null!, shared = null!;
            await runtime.OpenGroupAsync("group", group =>
            {
                if (i % 2 == 0) own = group.Add<Accounts>($"own {i}");
                shared = group.Add<Accounts>("shared");
                if (i % 2 == 1) own = group.Add<Accounts>($"own {i}");
            });
            await own.SetAsync("x", i);
            await shared.AddAsync("x", 1);
            return (Runtime: runtime, Shared: shared);
        }));
        foreach (var (runtime, shared) in opened)
        {
            Assert.Equal(6, await shared.BalanceAsync("x"));
            for (var i = 0; i < 6; i++)
                Assert.Equal(i, await (await runtime.OpenAsync<Accounts>($"own {i}")).BalanceAsync("x"));
            Assert.Equal(7, (await runtime.Directory.ListAsync()).Length);
        }
    }

    [Fact]
    public async Task A_name_that_is_taken_or_of_another_type_is_refused()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.Runtime.OpenAsync<Accounts>("alone", OpenMode.Create);
        foreach (var name in new[] { "alone", "first" })
        {
            var refused = await Assert.ThrowsAsync<TangoDirectoryException>(
                async () => await older.Runtime.OpenGroupAsync("group", group => group.Add<Fragile>(name)));
            Assert.Contains($"'{name}'", refused.Message, StringComparison.Ordinal);
        }

        Assert.Equal(3, (await older.Runtime.Directory.ListAsync()).Length);
    }

    [Fact]
    public async Task Group_without_members_is_not_created_and_no_entry_appended()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        await Assert.ThrowsAsync<ArgumentException>(async () => await runtime.OpenGroupAsync("none", static _ => { }));
        Assert.Equal(LogPosition.Zero, await world.TailAsync());
        // A group that exists needs no names.
        await Group.OpenAsync(runtime, isNewer: false);
        await world.NewRuntime().OpenGroupAsync("group", static _ => { });
    }

    /// <summary>A newer program added it and was withdrawn. History must not grow for it.</summary>
    [Fact]
    public async Task A_member_of_an_unknown_type_that_was_never_written_is_checkpointed_as_empty()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        await Group.OpenUnknownAsync(world.NewRuntime());
        await older.First.SetAsync("x", 2);
        var end = await older.Runtime.Checkpoints.WriteAsync(older.First);
        await older.Runtime.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);

        // Another one of the older code, and one that knows the type, from that checkpoint.
        Assert.Equal(2, await (await Group.OpenOlderAsync(world)).First.BalanceAsync("x"));
        var unknown = await Group.OpenUnknownAsync(world.NewRuntime());
        Assert.Equal(0, await unknown.SumAsync());
        await unknown.PutAsync(5);
        Assert.Equal(5, await unknown.SumAsync());
        await older.Runtime.SyncAsync();
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await older.Runtime.Checkpoints.WriteAsync(older.First));
        Assert.Equal(5, await (await Group.OpenUnknownAsync(world.NewRuntime())).SumAsync());
    }

    /// <summary>A checkpoint would lack the member's state. Another runtime makes it.</summary>
    [Fact]
    public void A_runtime_that_lacks_a_type_makes_no_checkpoints_and_says_so_once() =>
        SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var lines = new LogLines();
        await using var lacking = new TangoRuntime(
            world.Log, world.Log.OpenCursor, time, SystemEntropy.Instance,
            new TangoOptions { Checkpoints = new CheckpointPolicy { Updates = 4, TrimsLog = false } }, lines,
            SeededContext.Loops);
        var older = await Group.OpenAsync(lacking, isNewer: false);
        var unknown = await Group.OpenUnknownAsync(world.NewRuntime());
        await unknown.PutAsync(1);
        for (var i = 0; i < 40; i++)
        {
            await older.First.SetAsync("x", i);
            Assert.Equal(i, await older.First.BalanceAsync("x"));
            await Task.Delay(TimeSpan.FromMilliseconds(1), time);
        }

        var line = Assert.Single(lines.Written, static line => line.Contains("checkpoint", StringComparison.Ordinal));
        Assert.Contains("unknown is of type test-fragile", line, StringComparison.Ordinal);
        Assert.Null((await older.Runtime.Services.Handle.ReadClaimsAsync(default))
            .Cohorts[new ObjectId(256)].Checkpoint);
    });

    /// <summary>The program that reserved it was stopped for long. Hosts without the directory know it by
    /// positions.</summary>
    [Fact]
    public async Task Member_is_not_added_long_after_the_reservation()
    {
        await using var world = new World(new InMemoryLogOptions { Yield = false });
        var older = await Group.OpenOlderAsync(world);
        var late = await older.Runtime.Services.Handle.ReserveMemberAsync(
            "group", new TangoDirectory.NewObject("late", "test-accounts", 16), default);
        for (var i = 0; i <= TangoDirectory.MaxReservation; i++) await world.Log.AppendAsync(new byte[] { 1 }, []);
        await older.First.SetAsync("x", 3);
        var entry = RawRecords.Entry(1, writer =>
        {
            Tango.Records.RecordFormat.WriteUpdate(
                ref writer, ObjectId.Directory, TangoDirectory.Mutators.AddMember, ObjectKey.None,
                DirectoryFormat.AddMember(new ObjectId(256), late).WrittenSpan);
            writer.Flush();
        });
        await world.Log.AppendToObjectsAsync(
            entry, [ObjectId.Directory.Stream, new StreamId(256), late.Id.Stream]);
        Assert.Equal(3, await older.First.BalanceAsync("x"));
        Assert.Equal(2, (await older.Runtime.Directory.ListAsync()).Length);
        Assert.Equal(2, ((Tango.Runtime.ObjectHost)older.First.Host).Hosted!.Cohort.Objects.Count);

        var newer = await Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 7);
        Assert.Equal(7, await (await older.Runtime.OpenAsync<Accounts>("late")).BalanceAsync("x"));
    }

    /// <summary>A host that plays the deletion, and the addition behind it, does what the directory does:
    /// nothing.</summary>
    [Fact]
    public async Task A_member_is_not_added_to_a_deleted_group()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = world.NewRuntime();
        await Group.OpenAsync(newer, isNewer: false);
        await newer.Services.Handle.ReserveMemberAsync(
            "group", new TangoDirectory.NewObject("late", "test-accounts", 16), default);
        await older.Runtime.Directory.DeleteGroupAsync("group");
        Assert.False(await older.Runtime.Directory.ExistsAsync("late"));
        // The name is free again, and the group another one.
        var again = await Group.OpenNewerAsync(world);
        await again.Late!.SetAsync("x", 1);
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await older.First.BalanceAsync("x"));
        var entry = await older.Runtime.Services.Handle.FindAsync("late", default);
        Assert.Equal(((string?)"group", (LogPosition?)null), (entry!.Group, entry.Birth));
    }
}
