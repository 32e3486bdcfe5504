using Corfu.StateMachines.Playback;

namespace Corfu.StateMachines.Tests.Playback;

public sealed class TurnWaitersTests
{
    [Fact]
    public async Task Caller_outlives_any_number_of_failed_turns()
    {
        var waiters = new TurnWaiters();
        var caller = waiters.NextTurnAsync(CancellationToken.None);
        for (var i = 0; i < 200_000; i++) waiters.Again(waiters.Begin());
        var turn = waiters.Begin();
        Assert.True(turn.IsLinearizable);
        Assert.False(caller.IsCompleted);
        turn.Complete();
        await caller;
    }

    [Fact]
    public async Task Caller_of_a_turn_that_failed_as_the_replica_stopped_is_told()
    {
        var waiters = new TurnWaiters();
        var caller = waiters.NextTurnAsync(CancellationToken.None);
        var turn = waiters.Begin();
        waiters.Stop(new MachineStoppedException("as asked"));
        waiters.Again(turn);
        Assert.True(caller.IsFaulted);
        await Assert.ThrowsAsync<MachineStoppedException>(() => caller);
    }
}
