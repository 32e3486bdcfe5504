using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.History;

/// <summary>A cohort that is played beside the player, exactly up to a position.</summary>
public class CohortReplayTests
{
    private static readonly ImmutableArray<StreamId> Both = [new(256), new(257)];

    [Fact]
    public async Task Replayed_cohort_equals_the_state_at_every_position()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var states = new List<(LogPosition At, ImmutableDictionary<string, long> Balances)>();
        for (var i = 0; i < 20; i++)
        {
            if (i % 3 == 0) await runtime.TransferAsync(accounts, "a", i);
            else await accounts.SetAsync($"account-{i % 5}", i);
            if (i == 10) await runtime.Checkpoints.WriteAsync(accounts);
            states.Add((await world.TailAsync(), await accounts.SnapshotAsync()));
        }

        foreach (var (at, balances) in states)
        {
            var (cohort, _) = await ReplayAsync(runtime, at, 256);
            Assert.Equal(balances, Balances(cohort));
        }
    }

    [Fact]
    public async Task Cohort_trimmed_below_a_checkpoint_is_replayed_only_from_the_checkpoint_on()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await runtime.Checkpoints.WriteDirectoryAsync();
        await accounts.SetAsync("a", 2);
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        await accounts.SetAsync("a", 3);
        await world.Log.TrimPrefixAsync(end);

        await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await ReplayAsync(runtime, new LogPosition(end.Offset - 1), 256));
        var (first, _) = await ReplayAsync(runtime, end, 256);
        Assert.Equal(2, Balances(first)["a"]);
        var (last, _) = await ReplayAsync(runtime, await world.TailAsync(), 256);
        Assert.Equal(3, Balances(last)["a"]);
    }

    /// <summary>The entries above are trimmed, but a replay to the checkpoint's end needs to play nothing.</summary>
    [Fact]
    public async Task Replay_to_the_end_of_a_checkpoint_reads_no_entry_above_that_end()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        // In flight before the checkpoint's own entries, and applied after it was captured.
        var snapshot = await runtime.Services.Playback.Player.CaptureAsync(
            ((Tango.Runtime.ObjectHost)accounts.Host).Hosted!.Cohort, TestContext.Current.CancellationToken);
        await accounts.SetAsync("a", 2);
        var trimmed = await world.TailAsync();
        var writer = new CheckpointWriter(world.Log, 77, new TangoOptions());
        await writer.WriteAsync(snapshot, TestContext.Current.CancellationToken);
        await world.Log.TrimPrefixAsync(trimmed);
        var (cohort, _) = await ReplayAsync(runtime, snapshot.End, 256);
        Assert.Equal(1, Balances(cohort)["a"]);
    }

    [Fact]
    public async Task A_position_above_the_tail_is_refused()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        var above = (await world.TailAsync()).Next;
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await ReplayAsync(runtime, above, 256));
    }

    /// <summary>R20: cohorts that start at different checkpoints, with a commit record between them.</summary>
    [Fact]
    public async Task Cohorts_are_played_to_one_position_from_different_starts()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        await runtime.Checkpoints.WriteAsync(second);
        for (var i = 0; i < 3; i++)
        {
            if (i == 2) await runtime.Checkpoints.WriteAsync(first);
            await first.SetAsync("a", i);
            var outcome = await runtime.RunTransactionAsync(
                async _ => await second.SetAsync("b", 10 + await first.BalanceAsync("a")));
            Assert.True(outcome.IsCommitted);
        }

        // The decision record is played, so that the end is one of both.
        await runtime.SyncAsync();
        Cohort[] cohorts = [NewCohort(256, "first"), NewCohort(257, "second")];
        await runtime.Services.Past.PlayAsync(cohorts, await world.TailAsync(), TestContext.Current.CancellationToken);
        Assert.Equal(2, Balances(cohorts[0])["a"]);
        Assert.Equal(12, Balances(cohorts[1])["b"]);
    }

    /// <summary>R20: the end lies between a commit record and its decision record.</summary>
    [Fact]
    public async Task Replay_awaits_decisions_of_the_read_object_and_applies_decision_records_above_the_end()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        await first.SetAsync("a", 5);
        var commit = await world.TailAsync();
        var outcome = await runtime.RunTransactionAsync(
            async _ => await second.SetAsync("b", await first.BalanceAsync("a")));
        Assert.True(outcome.IsCommitted);
        await runtime.SyncAsync();

        var (read, awaited) = await ReplayAsync(runtime, commit.Next, 256);
        Assert.Equal(5, Balances(read)["a"]);
        Assert.Equal(commit, Assert.Single(awaited).Commit.Position);
        Assert.True(awaited[0].IsDecided);
        Assert.Null(awaited[0].Aborted);
        // The decision record tells the outcome to the written object.
        var (written, _) = await ReplayAsync(runtime, commit.Next, 257);
        Assert.Equal(5, Balances(written)["b"]);
        var (before, _) = await ReplayAsync(runtime, commit, 257);
        Assert.Empty(Balances(before));
    }

    /// <summary>No host of the read set is left: a probe plays it. The replay decides nothing in its own
    /// name.</summary>
    [Fact]
    public void Replay_of_the_read_object_publishes_no_decision() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var creator = world.NewRuntime();
        await creator.OpenWriteOnlyAsync<Accounts>("first", OpenMode.Create);
        await creator.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        await creator.DisposeAsync();
        var snapshotEnd = (await world.TailAsync()).Offset;
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, snapshotEnd, 256, 257);
                writer.Flush();
            }), Both);
        var tail = await world.TailAsync();

        var runtime = world.NewRuntime();
        var (_, awaited) = await ReplayAsync(runtime, tail, 256);
        await Task.Delay(TimeSpan.FromSeconds(5), time);
        Assert.True(Assert.Single(awaited).IsDecided);
        Assert.Equal(tail, await world.TailAsync());

        var (written, _) = await ReplayAsync(runtime, tail, 257);
        Assert.Equal(7, Balances(written)["x"]);
    });

    private static async Task<(Cohort Cohort, ImmutableArray<AwaitedDecision> Awaited)> ReplayAsync(
        TangoRuntime runtime, LogPosition end, ulong id)
    {
        var cohort = NewCohort(id, id == 257 ? "second" : "first");
        return (cohort, await runtime.Services.Past.PlayAsync([cohort], end, TestContext.Current.CancellationToken));
    }

    private static Cohort NewCohort(ulong id, string name) =>
        new([new DirectoryEntry(new ObjectId(id), name, "test-accounts", null, 65_536)],
            static _ => Type<Accounts>());

    private static TangoObjectType Type<T>()
        where T : TangoObject, ITangoObject<T> => T.ObjectType;

    private static ImmutableDictionary<string, long> Balances(Cohort cohort)
    {
        Assert.Null(cohort.Objects[0].Stopped);
        return ((Accounts)cohort.Objects[0].CurrentView!).Balances;
    }
}
