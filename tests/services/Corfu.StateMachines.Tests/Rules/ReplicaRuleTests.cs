using System.Globalization;
using Corfu.StateMachines.Records;
using Corfu.StateMachines.State;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Rules;

/// <summary>M7 and M9 to M12: queries, equal replicas, time, and whose the stream is; and fates of commands.</summary>
public sealed class ReplicaRuleTests
{
    private static readonly ReadOnlyMemory<byte> s_a = SumMachine.Bytes("a");

    [Fact]
    public async Task M7_query_shows_commands_that_were_acknowledged_elsewhere_before()
    {
        await using var world = new World();
        world.Options = world.Options with { PollInterval = TimeSpan.FromDays(1) };
        var writer = await world.OpenAsync();
        var reader = await world.OpenAsync();
        for (var i = 1; i <= 20; i++)
        {
            await world.AddAsync(writer, "a");
            Assert.Equal($"a={i}\n", await world.ShowAsync(reader));
        }
    }

    [Fact]
    public async Task M7_query_takes_a_check_that_began_after_the_call()
    {
        await using var world = new World();
        world.Options = world.Options with { PollInterval = TimeSpan.FromDays(1) };
        var gate = new GatedLog(world.Log);
        var reader = await world.OpenAsync(log: gate);
        var before = gate.Checks;
        gate.HoldChecks();
        var first = reader.QueryAsync(machine => machine.Show()).AsTask();
        await gate.CheckedAsync(before);

        // The first query's check is under way: the second one needs another.
        var second = reader.QueryAsync(machine => machine.Show()).AsTask();
        gate.LetChecksGo();
        await world.Do(Task.WhenAll(first, second));
        Assert.Equal(before + 2, gate.Checks);
    }

    [Fact]
    public async Task M7_queries_that_wait_together_share_a_check()
    {
        await using var world = new World();
        world.Options = world.Options with { PollInterval = TimeSpan.FromDays(1) };
        var gate = new GatedLog(world.Log);
        var reader = await world.OpenAsync(log: gate);
        var before = gate.Checks;
        gate.HoldChecks();
        List<Task<string>> queries = [reader.QueryAsync(machine => machine.Show()).AsTask()];
        await gate.CheckedAsync(before);
        for (var i = 0; i < 50; i++) queries.Add(reader.QueryAsync(machine => machine.Show()).AsTask());
        gate.LetChecksGo();
        await world.Do(Task.WhenAll(queries));
        Assert.Equal(before + 2, gate.Checks);
    }

    [Fact]
    public async Task Query_at_least_at_a_place_waits_for_the_command()
    {
        await using var world = new World();
        var writer = await world.OpenAsync();
        var reader = await world.OpenAsync();
        var outcome = await world.Do(writer.ProposeAsync(s_a));
        var seen = await world.Do(
            reader.QueryAsync(machine => machine.Show(), QueryAs.AtLeast(outcome.Place!.Value)).AsTask());
        Assert.Equal("a=1\n", seen);
    }

    [Fact]
    public async Task Query_at_least_at_an_entry_of_another_stream_ends()
    {
        await using var world = new World();
        var writer = await world.OpenAsync();
        var reader = await world.OpenAsync();
        await world.AddAsync(writer, "a");
        var other = await world.Log.AppendAsync(s_a, [StreamId.FromName("other")]);
        using var source = new CancellationTokenSource(TimeSpan.FromMinutes(1), world.Time);
        var seen = await world.Do(reader.QueryAsync(
            machine => machine.Show(), QueryAs.AtLeast(other.Position), source.Token).AsTask());
        Assert.Equal("a=1\n", seen);
    }

    [Fact]
    public async Task Poll_interval_beyond_that_of_a_timer_is_refused()
    {
        await using var world = new World();
        world.Options = world.Options with { PollInterval = TimeSpan.FromDays(50) };
        await Assert.ThrowsAsync<ArgumentException>(() => world.OpenAsync());
    }

    [Fact]
    public async Task M9_replica_with_other_results_than_the_first_told_stops()
    {
        await using var world = new World();
        var right = await world.OpenAsync("x");
        var wrong = await world.OpenAsync("y");
        await world.AddAsync(right, "clock");
        await world.AddAsync(right, "a");

        // The turn of this query, or one before it, meets the digest.
        await Assert.ThrowsAsync<MachineStoppedException>(() => world.ShowAsync(wrong));
        Assert.IsType<MachineDivergedException>(await world.Do(wrong.Stopped));
        var refused = await Assert.ThrowsAsync<MachineStoppedException>(() => world.Do(wrong.ProposeAsync(s_a)));
        Assert.IsType<MachineDivergedException>(refused.InnerException);
        Assert.Equal("a=1\n", await world.ShowAsync(right));
    }

    [Fact]
    public async Task M9_later_teller_of_other_results_stops_itself_alone()
    {
        await using var world = new World();
        var right = await world.OpenAsync("x");
        await world.AddAsync(right, "clock");
        await world.AddAsync(right, "a");
        var below = (await world.EntriesAsync(World.Commands))[^2].Position.Next;
        var late = new CommandsRecord(new ProposalKey(Guid.NewGuid(), 1), below, 12345,
            [new Command(Command.NoSession, 0, 0, s_a)]);
        await world.Log.AppendAsync(RecordCodec.Write(late), [World.Commands]);
        Assert.Equal("a=2\n", await world.ShowAsync(right));
    }

    [Fact]
    public async Task M10_exception_of_a_command_stops_every_replica()
    {
        await using var world = new World();
        var first = await world.OpenAsync();
        var second = await world.OpenAsync();
        var outcome = await world.Do(first.ProposeAsync(SumMachine.Bytes("throw")));

        Assert.Equal(CommandStatus.InDoubt, outcome.Status);
        foreach (var replica in (Replica<SumMachine>[])[first, second])
        {
            var reason = Assert.IsType<MachineStoppedException>(await world.Do(replica.Stopped));
            Assert.IsType<InvalidOperationException>(reason.InnerException);
            await Assert.ThrowsAsync<MachineStoppedException>(() => world.ShowAsync(replica));
            await Assert.ThrowsAsync<MachineStoppedException>(() =>
                replica.QueryAsync(machine => machine.Show(), QueryAs.Local).AsTask());
            await Assert.ThrowsAsync<MachineStoppedException>(() => world.Do(replica.ProposeAsync(s_a)));
        }
    }

    [Fact]
    public async Task M10_query_whose_turn_meets_the_exception_ends()
    {
        await using var world = new World();
        world.Options = world.Options with { PollInterval = TimeSpan.FromDays(1) };
        var writer = await world.OpenAsync();
        var reader = await world.OpenAsync();
        await world.Do(writer.ProposeAsync(SumMachine.Bytes("throw")));
        await Assert.ThrowsAsync<MachineStoppedException>(() => world.ShowAsync(reader));
    }

    [Fact]
    public void M11_time_never_goes_back()
    {
        // A writer whose clock is behind.
        var state = new MachineState(new SumMachine());
        state.Play(Entry(0, new ConfigureRecord("m", 0, 1, 1), hours: 5));
        var result = state.Play(Entry(1, Time(), hours: 2)).Outcomes[0];
        var later = state.Play(Entry(2, Time(), hours: 6)).Outcomes[0];
        var loaded = new MachineState(new SumMachine(), SavedStateCodec.Read(state.Capture().Head));
        var after = loaded.Play(Entry(3, Time(), hours: 4)).Outcomes[0];

        Assert.Equal(At(5).UtcTicks.ToString(CultureInfo.InvariantCulture), SumMachine.Text(result.Result));
        Assert.Equal(At(6).UtcTicks.ToString(CultureInfo.InvariantCulture), SumMachine.Text(later.Result));
        Assert.Equal(At(6).UtcTicks.ToString(CultureInfo.InvariantCulture), SumMachine.Text(after.Result));

        static DateTimeOffset At(int hours) => new(2001, 1, 1, hours, 0, 0, TimeSpan.Zero);

        static CommandsRecord Time() => new(new ProposalKey(Guid.Empty, 1), LogPosition.Zero, 0,
            [new Command(Command.NoSession, 0, 0, SumMachine.Bytes("time"))]);

        static LogEntry Entry(long position, MachineRecord record, int hours) => new(
            new LogPosition(position), default, EntryKind.Data, At(hours), [], RecordCodec.Write(record));
    }

    [Fact]
    public void M12_record_before_the_first_Configure_is_refused()
    {
        var state = new MachineState(new SumMachine());
        var entry = new LogEntry(LogPosition.Zero, default, EntryKind.Data, default, [],
            RecordCodec.Write(new OpenRecord(new ProposalKey(Guid.Empty, 1))));
        Assert.Throws<MachineFormatException>(() => state.Play(entry));
    }

    [Theory]
    [InlineData("other", 0)]
    [InlineData("machine", 1)]
    public async Task M12_another_machine_or_version_is_refused(string machine, int version)
    {
        await using var world = new World();
        await world.OpenAsync();
        var before = await world.EntriesAsync(World.Commands);
        world.Options = world.Options with { Machine = machine, Version = version };
        await Assert.ThrowsAsync<MachineMismatchException>(() => world.OpenAsync());
        Assert.Equal(before.Count, (await world.EntriesAsync(World.Commands)).Count);
    }

    [Fact]
    public async Task M12_first_of_two_machines_that_open_at_once_has_the_stream()
    {
        await using var world = new World();
        world.Fault(AppendFault.WrittenButUnknown);
        await world.OpenAsync();
        var late = new ConfigureRecord("other", 3, 1, 1);
        await world.Log.AppendAsync(RecordCodec.Write(late), [World.Commands]);
        Assert.Equal("", await world.ShowAsync(await world.OpenAsync()));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, CommandStatus.Applied)]
    [InlineData(AppendFault.LostAndUnknown, CommandStatus.NotApplied)]
    public async Task Unknown_append_is_resolved(AppendFault fault, CommandStatus expected)
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        world.Fault(fault);
        Assert.Equal(expected, (await world.Do(replica.ProposeAsync(s_a))).Status);
    }

    [Fact]
    public async Task Command_in_doubt_is_resolved_later()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        gate.HoldChecks();
        gate.Answer = result => result with { Outcome = AppendOutcome.Unknown };
        gate.Fate = _ => AppendOutcome.Unknown;
        var outcome = await world.Do(replica.ProposeAsync(s_a));
        Assert.Equal(CommandStatus.InDoubt, outcome.Status);

        gate.Fate = found => found;
        gate.LetChecksGo();
        var resolved = await world.Do(replica.ResolveAsync(outcome));
        Assert.Equal(CommandStatus.Applied, resolved.Status);
        Assert.Equal("1", SumMachine.Text(resolved.Result));
        Assert.Equal(resolved, await world.Do(replica.ResolveAsync(outcome)));
    }

    [Fact]
    public async Task Cancelled_command_that_was_sent_is_in_doubt()
    {
        await using var world = new World();
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        gate.HoldChecks();
        using var source = new CancellationTokenSource();
        var sent = replica.ProposeAsync(s_a, source.Token).AsTask();
        source.Cancel();
        var outcome = await world.Do(sent);
        gate.LetChecksGo();
        Assert.Equal(CommandStatus.InDoubt, outcome.Status);
        Assert.Equal("a=1\n", await world.ShowAsync(replica));
        Assert.Equal(CommandStatus.Applied, (await world.Do(replica.ResolveAsync(outcome))).Status);
    }

    [Fact]
    public async Task Command_beyond_the_limit_of_waiting_commands_is_refused()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxWaiting = 2, MaxAppends = 1, MaxBatchCommands = 1 };
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        gate.HoldAppends();
        var sent = Enumerable.Range(0, 3).Select(_ => replica.ProposeAsync(s_a).AsTask()).ToArray();
        await Assert.ThrowsAsync<ReplicaBusyException>(() => replica.ProposeAsync(s_a).AsTask());
        gate.LetAppendsGo();
        await world.Do(Task.WhenAll(sent));
    }
}
