using Corfu;
using Tango.Checkpoints;
using Tango.Formatting;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Runtime;
using Tango.Testing;
using Tango.Tests.Checkpoints;
using static Tango.Tests.RawRecords;

namespace Tango.Tests;

/// <summary>Executions in which one step meets what another runtime, or another part, did meanwhile.</summary>
public class ClaimRaceTests
{
    /// <summary>Spilled writes are no raw entries.</summary>
    [Fact]
    public async Task Spilled_writes_are_trimmed_without_a_declaration()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 200 });
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 100, Checkpoints = null });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await using (var transaction = runtime.BeginTx())
        {
            for (var i = 0; i < 40; i++) await accounts.SetAsync($"account {i}", 1);
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        var spilledUntil = await world.TailAsync();
        var raw = (await world.Log.AppendAsync("raw"u8.ToArray(), [])).Position;
        for (var i = 0; i < 200; i++) await accounts.SetAsync("x", i);
        await CheckpointAllAsync(runtime);
        await CheckpointAllAsync(runtime);

        var trim = await runtime.Services.Trimmer.TrimAsync(default);
        Assert.Equal((raw, raw), (trim.Released, trim.Undeclared!.Position));
        Assert.True(trim.Released >= spilledUntil);
    }

    /// <summary>The opening joins in the cycle that stops the directory.</summary>
    [Fact]
    public async Task An_opening_ends_when_the_directory_stops_meanwhile()
    {
        var beforeCheck = static () => ValueTask.CompletedTask;
        await using var world = new World(new InMemoryLogOptions { BeforeCheck = _ => beforeCheck() });
        await world.OpenAccountsAsync();
        var runtime = world.NewRuntime();
        await runtime.SyncAsync();
        var checks = 0;
        beforeCheck = async () =>
        {
            // The first is that of the name; the second looks for a checkpoint.
            if (++checks == 2) await RaiseBeyondAsync(world);
        };
        await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Log.ReadLevelAsync());
    }

    /// <summary>A commit record takes effect as a whole everywhere: what cannot be read for now stops no
    /// object.</summary>
    [Fact]
    public void A_spill_without_a_good_copy_is_no_unreadable_record() =>
        Assert.Throws<PageCorruptException>(() => SpilledWrites.WritesOf(
            new LogReadResult(new LogPosition(3), PageState.Corrupt, null), 0));

    /// <summary>R20: the undecided commit record stands between the first checkpoint and those of two hosts of one of
    /// the objects that it read, who looked at the claims before either of them had told the directory.</summary>
    [Fact]
    public async Task Two_hosts_that_checkpoint_at_once_keep_the_history_of_an_undecided_record()
    {
        var beforeAppend = static () => ValueTask.CompletedTask;
        await using var world = new World(new InMemoryLogOptions { AroundAppend = _ => beforeAppend() });
        var options = new TangoOptions { NewLogMaxSpan = 1, Checkpoints = null };
        var runtime = world.NewRuntime(options);
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        await runtime.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        await runtime.OpenWriteOnlyAsync<Accounts>("third", OpenMode.Create);
        var second = world.NewRuntime(options);
        var other = await second.OpenAsync<Accounts>("first", OpenMode.Create);
        await runtime.Checkpoints.WriteAsync(first);
        var commit = await world.TailAsync();
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, commit.Offset, [256, 257], 258);
                writer.Flush();
            }), [new StreamId(256), new StreamId(257), new StreamId(258)]);
        for (var i = 0; i < 20; i++) await first.SetAsync("y", i);

        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var isHeld = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        beforeAppend = AtRecord(() =>
        {
            isHeld.SetResult();
            return gate.Task;
        });
        var lower = second.Checkpoints.WriteAsync(other).AsTask();
        await isHeld.Task;
        await first.SetAsync("y", 21);
        beforeAppend = AtRecord(() =>
        {
            gate.SetResult();
            return lower;
        });
        await runtime.Checkpoints.WriteAsync(first);
        await runtime.SyncAsync();
        var claim = runtime.Services.Playback.Directory.Published.Claims.Cohorts[new ObjectId(256)];
        Assert.True(claim.Forget <= commit, $"{claim} of a record at {commit}");
        await runtime.Log.TrimAsync();
        var host = ((ObjectHost)first.Host).Hosted!;
        Assert.NotNull(await LoadAsync(world, host, commit));

        // Acts at the directory's record of a checkpoint that takes two entries: each append asks twice.
        Func<ValueTask> AtRecord(Func<Task> act)
        {
            var appends = 0;
            return () =>
            {
                if (++appends != 5) return ValueTask.CompletedTask;
                beforeAppend = static () => ValueTask.CompletedTask;
                return new ValueTask(act());
            };
        }
    }

    private static async Task<object?> LoadAsync(World world, HostedObject hosted, LogPosition notAbove) =>
        await world.LoadAsync(
            notAbove, new CohortMember(hosted.Entry, hosted.Type));

    private static async Task CheckpointAllAsync(TangoRuntime runtime)
    {
        await runtime.SyncAsync();
        var end = runtime.Log.PlayedTo;
        foreach (var cohort in runtime.Services.Playback.Directory.Published.Claims.Cohorts.Keys)
            await runtime.Services.Handle.CheckpointedAsync(cohort, end, end, null, default);
    }

    private static async Task RaiseBeyondAsync(World world)
    {
        var arguments = DirectoryFormat.RaiseLevel(FeatureLevel.Newest + 1);
        var entry = Entry(1, writer =>
        {
            RecordFormat.WriteUpdate(ref writer, ObjectId.Directory, TangoDirectory.Mutators.RaiseLevel,
                ObjectKey.None, arguments.WrittenSpan);
            writer.Flush();
        });
        await world.Log.AppendToObjectsAsync(entry, [ObjectId.Directory.Stream]);
    }
}
