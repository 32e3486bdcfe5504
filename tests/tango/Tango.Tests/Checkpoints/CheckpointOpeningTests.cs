using System.Collections.Immutable;
using Corfu;
using Tango.Testing;
using static Tango.Tests.Checkpoints.CheckpointWorld;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Checkpoints;

/// <summary>R21, R22: what is opened from a checkpoint is what was played from the beginning.</summary>
public class CheckpointOpeningTests
{
    private static readonly ImmutableArray<StreamId> Both = [new(256), new(257)];

    [Fact]
    public async Task Object_opens_from_a_checkpoint_when_the_history_is_trimmed()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 20; i++) await accounts.SetAsync($"account-{i}", i);
        await TrimAsync(world, runtime, accounts);
        await accounts.SetAsync("account-3", 30);
        var (other, same) = await world.OpenAccountsAsync();
        Assert.Equal(await accounts.SnapshotAsync(), await same.SnapshotAsync());
        Assert.Equal(
            Encode(await runtime.CaptureAsync(accounts)), Encode(await other.CaptureAsync(same)));
    }

    [Fact]
    public async Task Without_a_checkpoint_trimmed_history_is_a_typed_error()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var end = await runtime.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await world.OpenAccountsAsync());
        await runtime.Checkpoints.WriteAsync(accounts);
        var (_, same) = await world.OpenAccountsAsync();
        Assert.Equal(1, await same.BalanceAsync("a"));
    }

    /// <summary>R21: a commit record behind the checkpoint, with a snapshot below it, is decided alike.</summary>
    [Theory]
    [InlineData("a", false)]
    [InlineData("b", true)]
    public async Task Loader_decides_as_runtimes_that_played_the_whole_history(string written, bool commits)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var held = await runtime.BeginTransferAsync(accounts, "a");
        await accounts.SetAsync(written, 5);
        await TrimAsync(world, runtime, accounts);
        var (_, loader) = await world.OpenAccountsAsync();
        Assert.Equal(commits, (await held.EndTxAsync()).IsCommitted);
        Assert.Equal(await accounts.SnapshotAsync(), await loader.SnapshotAsync());
    }

    [Fact]
    public async Task Group_opens_from_a_checkpoint_of_all_members()
    {
        await using var world = new World();
        var (runtime, objects) = await OpenGroupAsync(world);
        await objects[0].SetAsync("a", 1);
        await objects[1].SetAsync("a", 2);
        await TrimAsync(world, runtime, objects[1]);
        await objects[0].SetAsync("b", 3);
        var (_, same) = await OpenGroupAsync(world);
        Assert.Equal(await objects[0].SnapshotAsync(), await same[0].SnapshotAsync());
        Assert.Equal(await objects[1].SnapshotAsync(), await same[1].SnapshotAsync());
    }

    /// <summary>R20: the only runtime that decided an orphan dies; one that loads its checkpoint publishes.</summary>
    [Fact]
    public void Loader_publishes_decisions_of_the_checkpoints_writer() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var reader = world.NewRuntime();
        var first = await reader.OpenAsync<Accounts>("first", OpenMode.Create);
        await world.NewRuntime().OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        await AppendOrphanAsync(world);
        await TrimAsync(world, reader, first);
        await reader.DisposeAsync();

        await world.NewRuntime().OpenAsync<Accounts>("first", OpenMode.Create);
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        var last = (await world.Log.ReadManyAsync([new LogPosition((await world.TailAsync()).Offset - 1)]))[0].Entry!;
        Assert.Equal(Both, last.Streams.Select(static header => header.Stream));
    });

    /// <summary>R20: no host of the read set is left, and its history is trimmed up to its checkpoint.</summary>
    [Fact]
    public void Probe_starts_from_a_checkpoint_not_above_the_commit_record() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var reader = world.NewRuntime();
        var first = await reader.OpenAsync<Accounts>("first", OpenMode.Create);
        await first.SetAsync("y", 1);
        var creator = world.NewRuntime();
        await creator.OpenAsync<Accounts>("second", OpenMode.Create);
        await TrimAsync(world, reader, first, trim: false);
        var end = await creator.Checkpoints.WriteAsync(await creator.OpenAsync<Accounts>("second", OpenMode.Create));
        await AppendOrphanAsync(world);
        await reader.Checkpoints.WriteAsync(first);
        await reader.DisposeAsync();
        await creator.DisposeAsync();
        var firstEnd = (await world.LoadAsync(end, Member(256, "first")))!.End;
        await world.Log.TrimPrefixAsync(firstEnd);

        var second = await world.NewRuntime().OpenAsync<Accounts>("second", OpenMode.Create);
        Assert.Equal(7, await second.BalanceAsync("x"));
    });

    private static async Task<(TangoRuntime Runtime, Accounts[] Objects)> OpenGroupAsync(World world)
    {
        var runtime = world.NewRuntime();
        var objects = new Accounts[2];
        await runtime.OpenGroupAsync("group", group =>
        {
            objects[0] = group.Add<Accounts>("first");
            objects[1] = group.Add<Accounts>("second");
        });
        return (runtime, objects);
    }

    /// <summary>Checkpoints the object and the directory and trims what both do not need.</summary>
    private static async Task TrimAsync(World world, TangoRuntime runtime, TangoObject handle, bool trim = true)
    {
        var end = LogPosition.Min(
            await runtime.Checkpoints.WriteAsync(handle), await runtime.Checkpoints.WriteDirectoryAsync());
        if (trim) await world.Log.TrimPrefixAsync(end);
    }

    private static async Task AppendOrphanAsync(World world)
    {
        var snapshotEnd = (await world.TailAsync()).Offset;
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, snapshotEnd, 256, 257);
                writer.Flush();
            }), Both);
    }
}
