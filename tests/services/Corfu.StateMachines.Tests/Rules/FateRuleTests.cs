using Corfu.StateMachines.Proposals;
using Corfu.StateMachines.Records;
using Corfu.StateMachines.State;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Rules;

/// <summary>M1, M2 and M8: the outcome of a session's command says no more than is known.</summary>
public sealed class FateRuleTests
{
    private static readonly ReadOnlyMemory<byte> s_a = SumMachine.Bytes("a");

    [Fact]
    public async Task M1_number_whose_first_attempt_ran_is_not_resolved_by_the_second()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        gate.HoldChecks();
        gate.Fate = _ => AppendOutcome.Unknown;

        // The first attempt is in the log, the second one never comes into it.
        world.Fault(AppendFault.WrittenButUnknown, AppendFault.LostAndUnknown);
        var outcome = await world.Do(session.ProposeAsync(7, s_a, 0));
        gate.Fate = found => found;
        var resolved = await world.Do(replica.ResolveAsync(outcome));
        gate.LetChecksGo();

        Assert.Equal(CommandStatus.InDoubt, outcome.Status);
        Assert.Equal(CommandStatus.InDoubt, resolved.Status);
        Assert.Equal("1", SumMachine.Text((await world.Do(session.ProposeAsync(7, s_a, 0))).Require()));
        Assert.Equal("a=1\n", await world.ShowAsync(replica));
    }

    [Fact]
    public async Task M8_command_of_a_session_that_was_gone_is_not_told_to_have_run()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxSessions = 1, Attempts = 1 };
        var gate = new GatedLog(world.Log);
        var slow = await world.OpenAsync(log: gate);
        var fast = await world.OpenAsync();
        var session = await world.Do(slow.OpenSessionAsync().AsTask());
        gate.HoldChecks();
        await world.Do(fast.OpenSessionAsync().AsTask());
        var passed = session.ProposeAsync(0, s_a, 0).AsTask();
        await world.AddAsync(fast, "b");
        await world.Log.TrimPrefixAsync(await world.Do(fast.SnapshotAsync().AsTask()));
        gate.LetChecksGo();

        Assert.Equal(CommandStatus.InDoubt, (await world.Do(passed)).Status);
        Assert.Equal(CommandStatus.SessionGone, (await world.Do(session.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal("b=1\n", await world.ShowAsync(slow));
    }

    [Fact]
    public async Task M2_cancelled_opening_opens_no_further_session()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        using var source = new CancellationTokenSource();
        gate.HoldAppends();
        var opening = replica.OpenSessionAsync(source.Token).AsTask();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => world.Do(opening));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            replica.OpenSessionAsync(source.Token).AsTask());
        gate.LetAppendsGo();
        await world.PassAsync(TimeSpan.FromSeconds(1));

        Assert.Single(await world.EntriesAsync(World.Commands), IsOpen);

        static bool IsOpen(LogEntry entry) => RecordCodec.Read(entry.Payload) is OpenRecord;
    }

    [Fact]
    public async Task M1_session_of_the_source_is_none_of_the_promoted_mirror()
    {
        await using var source = new World();
        await using var mirror = new World();
        var lost = await source.Do((await source.OpenAsync()).OpenSessionAsync().AsTask());
        var replica = await mirror.OpenAsync();

        // The copy ends before the session's record, and another one stands at its position.
        var other = await mirror.Do(replica.OpenSessionAsync().AsTask());
        await mirror.Do(other.ProposeAsync(0, s_a, 0));

        var outcome = await mirror.Do(replica.Attach(lost.Id).ProposeAsync(0, s_a, 0));
        Assert.Equal(CommandStatus.SessionGone, outcome.Status);
        Assert.Equal("a=1\n", await mirror.ShowAsync(replica));
    }

    [Fact]
    public async Task Command_that_waits_as_the_replica_stops_is_told_so()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var queue = new ProposalQueue(gate, World.Commands, Guid.NewGuid(), world.Options with { MaxAppends = 1 },
            static () => new PlayedMark(LogPosition.Zero, 0), static () => { });
        gate.HoldAppends();
        var sent = queue.ProposeAsync(new Command(Command.NoSession, 0, 0, s_a), CancellationToken.None);
        var waiting = queue.ProposeAsync(new Command(Command.NoSession, 0, 0, s_a), CancellationToken.None);
        queue.Stop(new IOException("as asked"));

        var stopped = await Assert.ThrowsAsync<MachineStoppedException>(() => waiting);
        Assert.IsType<IOException>(stopped.InnerException);
        Assert.Equal(CommandStatus.InDoubt, (await sent).Status);
    }

    [Fact]
    public async Task Fate_that_was_decided_is_told_after_the_stop()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        using var source = new CancellationTokenSource();
        gate.HoldChecks();
        var sent = replica.ProposeAsync(s_a, source.Token).AsTask();
        source.Cancel();
        var doubt = await world.Do(sent);
        gate.LetChecksGo();
        await world.ShowAsync(replica);
        await world.Do(replica.DisposeAsync().AsTask());
        Assert.Equal(CommandStatus.Applied, (await world.Do(replica.ResolveAsync(doubt))).Status);
    }

    [Fact]
    public void M2_sessions_beyond_the_results_that_all_may_keep_go_by_use()
    {
        var table = new SessionTable(maxSessions: 10, maxResultBytes: 1000, mostBytes: 200);
        table.Open(1);
        table.Open(2);
        foreach (var session in (long[])[1, 2])
        {
            var command = new Command(session, 0, 0, s_a);
            Assert.Null(table.Use(command));
            table.Keep(command, LogPosition.Zero, new byte[100]);
        }

        Assert.Equal(CommandStatus.SessionGone, table.Use(new Command(1, 0, 0, s_a))!.Status);
        Assert.Equal(CommandStatus.AppliedBefore, table.Use(new Command(2, 0, 0, s_a))!.Status);

        // An answered result has room for another session's.
        Assert.Equal(CommandStatus.Outdated, table.Use(new Command(2, 0, 1, s_a))!.Status);
        table.Open(3);
        Assert.Null(table.Use(new Command(3, 0, 0, s_a)));
        table.Keep(new Command(3, 0, 0, s_a), LogPosition.Zero, new byte[100]);
        Assert.Equal(CommandStatus.Outdated, table.Use(new Command(2, 0, 1, s_a))!.Status);
    }

    [Fact]
    public void M3_result_too_long_for_a_snapshot_stops_the_machine()
    {
        var state = new MachineState(new LongResult());
        state.Play(Entry(0, new ConfigureRecord("m", 0, 1, 1)));
        Assert.Throws<MachineStoppedException>(() => state.Play(Entry(1, new CommandsRecord(
            new ProposalKey(Guid.Empty, 1), LogPosition.Zero, 0, [new Command(Command.NoSession, 0, 0, s_a)]))));
    }

    [Fact]
    public void M3_loaded_state_counts_the_intents_that_all_count()
    {
        var state = new MachineState(new SumMachine());
        state.Play(Entry(0, new ConfigureRecord("m", 0, 1, 1)));
        Assert.True(state.Play(Entry(1, Intent(null))).IsCounted);
        var loaded = new MachineState(new SumMachine(), SavedStateCodec.Read(state.Capture().Head));
        Assert.False(loaded.Play(Entry(2, Intent(null))).IsCounted);
        Assert.True(loaded.Play(Entry(3, Intent(new LogPosition(1)))).IsCounted);

        static IntentRecord Intent(LogPosition? behind) => new(new ProposalKey(Guid.Empty, 1), behind);
    }

    private static LogEntry Entry(long position, MachineRecord record) =>
        new(new LogPosition(position), default, EntryKind.Data, default, [], RecordCodec.Write(record));

    private sealed class LongResult : IStateMachine
    {
        public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context) =>
            new byte[(64 << 20) + 1];

        public IMachineSnapshot Capture() => throw new NotSupportedException();

        public ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();
    }
}
