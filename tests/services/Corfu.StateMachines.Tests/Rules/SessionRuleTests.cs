using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Rules;

/// <summary>M1 to M3: a command of a session runs once, wherever it is sent.</summary>
public sealed class SessionRuleTests
{
    private static readonly ReadOnlyMemory<byte> s_a = SumMachine.Bytes("a");

    [Fact]
    public async Task M1_client_that_goes_on_at_another_replica_gets_the_result_of_the_run()
    {
        await using var world = new World();
        var first = await world.OpenAsync();
        var second = await world.OpenAsync();
        var session = await world.Do(first.OpenSessionAsync().AsTask());
        var answer = await world.Do(session.ProposeAsync(7, s_a, 0));
        await world.Do(first.DisposeAsync().AsTask());

        var again = await world.Do(second.Attach(session.Id).ProposeAsync(7, s_a, 0));

        Assert.Equal(CommandStatus.Applied, answer.Status);
        Assert.Equal(CommandStatus.AppliedBefore, again.Status);
        Assert.Equal("1", SumMachine.Text(again.Result));
        Assert.Equal(answer.Place, again.Place);
        Assert.Equal("a=1\n", await world.ShowAsync(second));
    }

    [Fact]
    public async Task M1_delayed_duplicate_of_an_answered_number_is_outdated()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        await world.Do(session.ProposeAsync(0, s_a, 0));
        await world.Do(session.ProposeAsync(1, s_a, 1));

        var late = await world.Do(session.ProposeAsync(0, s_a, 0));

        Assert.Equal(CommandStatus.Outdated, late.Status);
        Assert.Equal("a=2\n", await world.ShowAsync(replica));
    }

    [Fact]
    public async Task M1_numbers_run_once_in_any_order()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        foreach (var number in (long[])[5, 4, 5, 4, 6])
            await world.Do(session.ProposeAsync(number, s_a, 0));
        Assert.Equal("a=3\n", await world.ShowAsync(replica));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown)]
    [InlineData(AppendFault.LostAndUnknown)]
    [InlineData(AppendFault.LeaveHole)]
    public async Task M1_command_whose_append_is_in_doubt_runs_once(AppendFault fault)
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        world.Fault(fault);

        var outcome = await world.Do(session.ProposeAsync(0, s_a, 0));

        Assert.Equal("1", SumMachine.Text(outcome.Require()));
        Assert.Equal("a=1\n", await world.ShowAsync(replica));
    }

    [Fact]
    public async Task M1_session_that_keeps_too_much_runs_again_after_answers()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxResultBytes = 100 };
        var replica = await world.OpenAsync();
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        await world.Do(session.ProposeAsync(0, s_a, 0));
        await world.Do(session.ProposeAsync(1, s_a, 0));

        var full = await world.Do(session.ProposeAsync(2, s_a, 0));
        var after = await world.Do(session.ProposeAsync(2, s_a, 2));

        Assert.Equal(CommandStatus.SessionFull, full.Status);
        Assert.Equal("3", SumMachine.Text(after.Require()));
    }

    [Fact]
    public async Task M2_closed_session_is_gone_at_every_replica()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        Assert.True(await world.Do(session.CloseAsync().AsTask()));

        var other = (await world.OpenAsync()).Attach(session.Id);

        Assert.Equal(CommandStatus.SessionGone, (await world.Do(session.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal(CommandStatus.SessionGone, (await world.Do(other.ProposeAsync(1, s_a, 0))).Status);
        Assert.Equal("", await world.ShowAsync(replica));
    }

    [Fact]
    public async Task M2_session_that_was_least_recently_used_goes_beyond_the_recorded_limit()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxSessions = 2 };
        var replica = await world.OpenAsync();
        var first = await world.Do(replica.OpenSessionAsync().AsTask());
        var second = await world.Do(replica.OpenSessionAsync().AsTask());
        await world.Do(first.ProposeAsync(0, s_a, 0));

        // Another replica's own limit does not count.
        world.Options = world.Options with { MaxSessions = 100 };
        var third = await world.Do((await world.OpenAsync()).OpenSessionAsync().AsTask());

        Assert.Equal(CommandStatus.SessionGone, (await world.Do(second.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal(CommandStatus.AppliedBefore, (await world.Do(first.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal(CommandStatus.Applied, (await world.Do(third.ProposeAsync(0, s_a, 0))).Status);
    }

    [Fact]
    public async Task M3_replica_that_loads_a_snapshot_suppresses_the_duplicates_that_all_suppress()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxSessions = 2 };
        var first = await world.OpenAsync();
        var kept = await world.Do(first.OpenSessionAsync().AsTask());
        var used = await world.Do(first.OpenSessionAsync().AsTask());
        var answer = await world.Do(kept.ProposeAsync(3, s_a, 0));
        await world.Do(used.ProposeAsync(0, s_a, 0));
        await world.Do(kept.ProposeAsync(4, s_a, 0));
        var end = await world.Do(first.SnapshotAsync().AsTask());
        await world.Log.TrimPrefixAsync(end);

        var loader = await world.OpenAsync();
        var again = await world.Do(loader.Attach(kept.Id).ProposeAsync(3, s_a, 0));
        var third = await world.Do(loader.OpenSessionAsync().AsTask());

        Assert.Equal(CommandStatus.AppliedBefore, again.Status);
        Assert.Equal(answer.Place, again.Place);
        Assert.Equal(CommandStatus.SessionGone, (await world.Do(used.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal(CommandStatus.Applied, (await world.Do(third.ProposeAsync(0, s_a, 0))).Status);
        Assert.Equal("a=4\n", await world.ShowAsync(loader));
        Assert.Equal("a=4\n", await world.ShowAsync(first));
    }
}
