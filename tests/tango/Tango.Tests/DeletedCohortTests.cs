using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;
using static Tango.Tests.RawRecords;

namespace Tango.Tests;

/// <summary>A deleted cohort leaves memory once nothing depends on it, and handles that are kept go on
/// failing.</summary>
public class DeletedCohortTests
{
    private static readonly ImmutableArray<StreamId> s_both = [new(256), new(257)];

    [Fact]
    public async Task Deleted_object_leaves_memory_and_all_handles_throw_typed()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var kept = await runtime.OpenAsync<Accounts>("kept", OpenMode.Create);
        var remote = await runtime.OpenRemoteAsync<Accounts>("accounts");
        await accounts.SetAsync("x", 1);
        await remote.BalanceAsync("x");
        await using var before = runtime.BeginTx(new TransactionOptions { Explicit = true });
        Assert.Equal(1, await before.Use(accounts).BalanceAsync("x"));
        var hosted = HostedBy(accounts);

        await world.NewRuntime().Directory.DeleteAsync("accounts");
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(hosted.Id));
        Assert.Equal(
            ["tango/directory", "kept"], runtime.Directory.ReadFigures().Select(static figures => figures.Name));
        Assert.Null(hosted.CurrentView);
        Assert.Empty(hosted.Versions.Capture().Keys);

        foreach (var old in new[] { accounts, remote })
        {
            await RequireDeletedAsync(async () => await old.BalanceAsync("x"));
            await RequireDeletedAsync(async () => await old.SetAsync("x", 2));
            await RequireDeletedAsync(async () => await old.AddAsync("x", 2));
            await RequireDeletedAsync(async () => await runtime.RunTransactionAsync(async _ =>
            {
                await kept.SetAsync("x", await old.BalanceAsync("x"));
            }));
            await RequireDeletedAsync(async () => await runtime.RunTransactionAsync(async _ =>
            {
                await kept.BalanceAsync("x");
                await old.SetAsync("x", 1);
            }));
        }

        // The transaction saw the object, and is told at its end that the object is deleted.
        Assert.Equal(1, await before.Use(accounts).BalanceAsync("x"));
        await before.Use(kept).SetAsync("x", 1);
        await RequireDeletedAsync(async () => await before.EndTxAsync());
        var again = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.Equal(0, await again.BalanceAsync("x"));
        await RequireDeletedAsync(async () => await accounts.BalanceAsync("x"));
        Assert.Equal(0, await kept.BalanceAsync("x"));
    }

    [Fact]
    public async Task Deleted_group_leaves_with_all_members()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        List<Accounts> members = [];
        await runtime.OpenGroupAsync(
            "group", group => members.AddRange([group.Add<Accounts>("a"), group.Add<Accounts>("b")]));
        await members[1].SetAsync("x", 1);
        await runtime.Directory.DeleteGroupAsync("group");
        await runtime.SyncAsync();
        Assert.Equal(["tango/directory"], runtime.Directory.ReadFigures().Select(static figures => figures.Name));
        foreach (var member in members) await RequireDeletedAsync(async () => await member.BalanceAsync("x"));
        await runtime.OpenGroupAsync("group", group => members.Add(group.Add<Accounts>("b")));
        Assert.Equal(0, await members[2].BalanceAsync("x"));
        await RequireDeletedAsync(async () => await members[1].BalanceAsync("x"));
    }

    /// <summary>R20: until the decision record is played, others may have no answer but the one from here.</summary>
    [Fact]
    public void Deleted_object_stays_while_a_decision_is_awaited() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, _) = await world.OpenAccountsAsync("first");
        var second = await world.NewRuntime().OpenAsync<Accounts>("second", OpenMode.Create);
        await AppendOrphanAsync(world);
        await runtime.Directory.DeleteAsync("first");
        await runtime.SyncAsync();
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(new ObjectId(256)));
        Assert.Equal(["tango/directory"], runtime.Directory.ReadFigures().Select(static figures => figures.Name));
        // No other process can have decided it.
        Assert.Equal(7, await second.BalanceAsync("x"));
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(new ObjectId(256)));
    });

    /// <summary>R20: all hosts have let go of it, so that none of them would decide.</summary>
    [Fact]
    public void A_commit_record_that_read_a_deleted_object_is_decided_at_once() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, _) = await world.OpenAccountsAsync("first");
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        var before = await world.TailAsync();
        await runtime.Directory.DeleteAsync("first");
        await runtime.SyncAsync();
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(new ObjectId(256)));
        await AppendOrphanAsync(world, before.Offset);
        Assert.Equal(0, await second.BalanceAsync("x"));
        Assert.Equal(TimeSpan.Zero, time.GetElapsedTime(0));
    });

    /// <summary>R20: it stands before the deletion, whatever is known when it is played.</summary>
    [Fact]
    public void Commit_record_below_a_deletion_is_decided_without_regard_to_the_deletion() =>
        SeededContext.Run(3, async time =>
        {
            await using var world = new World(time: time);
            var (runtime, _) = await world.OpenAccountsAsync("first");
            await world.NewRuntime().OpenAsync<Accounts>("second", OpenMode.Create);
            await AppendOrphanAsync(world);
            await runtime.Directory.DeleteAsync("first");
            await runtime.SyncAsync();
            var late = await world.NewRuntime().OpenAsync<Accounts>("second", OpenMode.Create);
            Assert.Equal(7, await late.BalanceAsync("x"));
        });

    private static async Task AppendOrphanAsync(World world, long? snapshotEnd = null)
    {
        var end = snapshotEnd ?? (await world.TailAsync()).Offset;
        var result = await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, end, 256, 257);
                writer.Flush();
            }), s_both);
        Assert.Equal(AppendOutcome.Appended, result.Outcome);
    }

    private static HostedObject HostedBy(TangoObject handle) => ((ObjectHost)handle.Host).Hosted!;

    private static Task RequireDeletedAsync(Func<Task> call) =>
        Assert.ThrowsAsync<TangoObjectDeletedException>(call);
}
