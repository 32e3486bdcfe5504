using Corfu.StateMachines.Records;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Rules;

/// <summary>M4 to M6, and M8: snapshots, the history that they let go, and replicas that they pass over.</summary>
public sealed class SnapshotRuleTests
{
    [Fact]
    public async Task M4_snapshot_under_batches_has_whole_entries_alone()
    {
        await using var world = new World();
        var writer = await world.OpenAsync();
        List<Task<CommandOutcome>> commands = [];
        List<LogPosition> ends = [];
        for (var round = 0; round < 5; round++)
        {
            for (var i = 0; i < 20; i++) commands.Add(writer.ProposeAsync(SumMachine.Bytes("k" + (i % 3))).AsTask());
            ends.Add(await world.Do(writer.SnapshotAsync().AsTask()));
        }

        await world.Do(Task.WhenAll(commands));
        var expected = await world.ShowAsync(writer);

        // Each start: the snapshot, and the entries from its end on.
        foreach (var end in ends)
        {
            await world.Log.TrimPrefixAsync(end);
            Assert.Equal(expected, await world.ShowAsync(await world.OpenAsync()));
        }
    }

    [Fact]
    public async Task M4_stopped_machine_writes_no_snapshot()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        await world.Do(replica.ProposeAsync(SumMachine.Bytes("throw")));
        await world.Do(replica.Stopped);
        await Assert.ThrowsAsync<MachineStoppedException>(() => world.Do(replica.SnapshotAsync().AsTask()));
        Assert.Empty(await world.EntriesAsync(World.Snapshots));
    }

    [Fact]
    public async Task M5_history_goes_below_the_older_of_two_snapshots()
    {
        await using var world = new World();
        List<LogPosition> kept = [];
        world.Options = world.Options with
        {
            Retain = (below, _) =>
            {
                kept.Add(below);
                return ValueTask.CompletedTask;
            },
        };
        var replica = await world.OpenAsync();
        await world.AddAsync(replica, "a");
        var first = await world.Do(replica.SnapshotAsync().AsTask());
        Assert.Empty(kept);
        await world.AddAsync(replica, "a");
        var second = await world.Do(replica.SnapshotAsync().AsTask());
        Assert.Equal([first], kept);
        await world.AddAsync(replica, "a");
        await world.Do(replica.SnapshotAsync().AsTask());
        Assert.Equal([first, second], kept);
    }

    [Fact]
    public async Task M5_loader_passes_over_a_damaged_snapshot()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        await world.AddAsync(replica, "a");
        var older = await world.Do(replica.SnapshotAsync().AsTask());
        await world.AddAsync(replica, "b");
        await world.Do(replica.SnapshotAsync().AsTask());
        await world.Log.TrimPrefixAsync(older);
        var chunk = (await world.EntriesAsync(World.Chunks, older))[^1].Position;
        await world.Log.TrimAsync(chunk);

        Assert.Equal("a=1\nb=1\n", await world.ShowAsync(await world.OpenAsync()));
    }

    [Fact]
    public async Task M5_replica_that_meets_a_trim_goes_on_from_the_newest_snapshot()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        gate.HoldChecks();
        for (var i = 0; i < 10; i++) await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        await world.AddAsync(fast, "a");
        gate.LetChecksGo();

        Assert.Equal("a=11\n", await world.ShowAsync(slow));
    }

    [Fact]
    public async Task M5_replica_goes_on_from_a_snapshot_that_was_unreachable_at_first()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        gate.HoldChecks();
        for (var i = 0; i < 10; i++) await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        var chunks = await world.EntriesAsync(World.Chunks);
        var refused = 0;
        gate.IsUnreachable = position => chunks.Exists(chunk => chunk.Position == position) && refused++ < 3;
        gate.LetChecksGo();

        Assert.Equal("a=10\n", await world.ShowAsync(slow));
        Assert.True(refused > 3);
    }

    [Fact]
    public async Task M5_replica_without_a_snapshot_beyond_a_trim_stops()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        gate.HoldChecks();
        await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync((await world.Log.CheckAsync([])).Tail);
        gate.LetChecksGo();

        Assert.IsType<MachineStoppedException>(await world.Do(slow.Stopped));
        await Assert.ThrowsAsync<MachineStoppedException>(() => world.ShowAsync(slow));
        await Assert.ThrowsAsync<MachineStoppedException>(() => world.OpenAsync());
    }

    [Fact]
    public async Task M6_replicas_that_intend_at_once_write_one_snapshot()
    {
        await using var world = new World();
        var writer = await world.OpenAsync();
        world.Options = world.Options with { SnapshotCommands = 10 };
        var gates = new[] { new GatedLog(world.Log), new GatedLog(world.Log), new GatedLog(world.Log) };
        foreach (var gate in gates)
        {
            await world.OpenAsync(log: gate);
            gate.HoldAppends();
        }

        for (var i = 0; i < 10; i++) await world.AddAsync(writer, "a");
        await world.PassAsync(TimeSpan.FromSeconds(10));
        Assert.All(gates, gate => Assert.Equal(1, gate.HeldAppends));
        foreach (var gate in gates) gate.LetAppendsGo();
        await world.PassAsync(TimeSpan.FromSeconds(10));

        Assert.Equal(3, await CountIntentsAsync(world));
        var snapshot = Assert.Single(await world.EntriesAsync(World.Snapshots));
        await world.Log.TrimPrefixAsync((await world.EntriesAsync(World.Commands))[^3].Position.Next);
        Assert.True(snapshot.Position > LogPosition.Zero);
        Assert.Equal("a=10\n", await world.ShowAsync(await world.OpenAsync()));
    }

    [Fact]
    public async Task M6_another_replica_takes_over_an_unfinished_snapshot()
    {
        await using var world = new World();
        world.Options = world.Options with { SnapshotCommands = 3, SnapshotPatience = TimeSpan.FromMinutes(1) };
        var gate = new GatedLog(world.Log);
        var dying = await world.OpenAsync(log: gate);
        for (var i = 0; i < 2; i++) await world.AddAsync(dying, "a");

        // From here on no append of the process that intends is known to be in the log.
        gate.Answer = result => result with { Outcome = AppendOutcome.Unknown };
        await world.AddAsync(dying, "a");
        await world.PassAsync(TimeSpan.FromSeconds(20));
        Assert.NotNull(dying.SnapshotFailure);
        await world.Do(dying.DisposeAsync().AsTask());
        Assert.Empty(await world.EntriesAsync(World.Snapshots));

        var another = await world.OpenAsync();
        await world.PassAsync(TimeSpan.FromMinutes(2));
        Assert.Single(await world.EntriesAsync(World.Snapshots));
        Assert.Null(another.SnapshotFailure);
    }

    [Fact]
    public async Task M6_write_that_takes_longer_than_the_patience_is_not_taken_over_without_end()
    {
        await using var world = new World();
        world.Options = world.Options with
        {
            SnapshotCommands = 3,
            SnapshotPatience = TimeSpan.FromMinutes(1),
            PollInterval = TimeSpan.FromSeconds(5),
        };
        List<Replica<SumMachine>> replicas = [];
        for (var i = 0; i < 2; i++)
        {
            var gate = new GatedLog(world.Log);
            replicas.Add(await world.OpenAsync(log: gate));
            gate.BeforeAppend = streams => streams.Contains(World.Chunks)
                ? Task.Delay(TimeSpan.FromSeconds(90), world.Time)
                : Task.CompletedTask;
        }

        for (var i = 0; i < 3; i++) await world.AddAsync(replicas[0], "a");
        await world.Time.AdvanceUntilAsync(
            Task.Delay(TimeSpan.FromMinutes(10), world.Time), TimeSpan.FromSeconds(5));

        Assert.InRange(await CountIntentsAsync(world), 2, 4);
        Assert.NotEmpty(await world.EntriesAsync(World.Snapshots));
    }

    [Fact]
    public async Task M6_replica_that_may_not_append_pauses_and_says_why()
    {
        await using var world = new World();
        var writer = await world.OpenAsync();
        world.Options = world.Options with { SnapshotCommands = 1 };
        var gate = new GatedLog(world.Log);
        var reader = await world.OpenAsync(log: gate);
        var refused = 0;
        gate.BeforeAppend = _ =>
        {
            refused++;
            throw new LogIsMirrorException("as asked");
        };
        await world.AddAsync(writer, "a");
        await world.Do(Task.Delay(TimeSpan.FromSeconds(3), world.Time));

        Assert.InRange(refused, 1, 6);
        Assert.IsType<LogIsMirrorException>(reader.SnapshotFailure);
    }

    [Fact]
    public async Task Cancelled_snapshot_leaves_the_machine_uncaptured()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        gate.HoldChecks();
        using var source = new CancellationTokenSource();
        var snapshot = replica.SnapshotAsync(source.Token).AsTask();
        source.Cancel();
        gate.LetChecksGo();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => snapshot);
        await world.ShowAsync(replica);
        Assert.Equal(0, await world.Do(replica.QueryAsync(machine => machine.Captures).AsTask()));
    }

    [Fact]
    public async Task M8_proposer_whose_entry_a_snapshot_passed_over_has_no_result()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        gate.HoldChecks();
        var passed = slow.ProposeAsync(SumMachine.Bytes("a")).AsTask();
        await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        gate.LetChecksGo();

        var outcome = await world.Do(passed);

        Assert.Equal(CommandStatus.ResultLost, outcome.Status);
        Assert.Equal("a=2\n", await world.ShowAsync(slow));
    }

    [Fact]
    public async Task M8_proposer_in_doubt_whose_entry_a_snapshot_passed_over_stays_in_doubt()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        gate.HoldChecks();
        gate.Answer = result => result with { Outcome = AppendOutcome.Unknown };
        gate.Fate = _ => AppendOutcome.Unknown;
        var passed = slow.ProposeAsync(SumMachine.Bytes("a")).AsTask();
        await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        gate.LetChecksGo();

        var outcome = await world.Do(passed);
        Assert.Equal(CommandStatus.InDoubt, outcome.Status);
        Assert.Equal("a=2\n", await world.ShowAsync(slow));
        Assert.Equal(CommandStatus.InDoubt, (await world.Do(slow.ResolveAsync(outcome))).Status);
    }

    [Fact]
    public async Task M8_session_gets_the_result_that_a_snapshot_passed_over()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        var session = await world.Do(slow.OpenSessionAsync().AsTask());
        gate.HoldChecks();
        var passed = session.ProposeAsync(0, SumMachine.Bytes("a"), 0).AsTask();
        await world.AddAsync(fast, "a");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        gate.LetChecksGo();

        var outcome = await world.Do(passed);

        Assert.Equal(CommandStatus.AppliedBefore, outcome.Status);
        Assert.Equal("a=2\n", await world.ShowAsync(slow));
    }

    private static async Task<int> CountIntentsAsync(World world) =>
        (await world.EntriesAsync(World.Commands)).Count(entry => RecordCodec.Read(entry.Payload) is IntentRecord);
}
