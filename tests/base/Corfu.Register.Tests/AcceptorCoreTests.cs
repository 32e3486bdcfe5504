using Corfu.Protocol;

namespace Corfu.Register.Tests;

public sealed class AcceptorCoreTests
{
    private readonly AcceptorCore _core = new(new AcceptorOptions { KeptSlots = 4, MaxOpenSlots = 3 });

    private RegisterAnswer Do(RegisterRequest request) => _core.Handle(request).Answer;

    private RegisterAnswer Prepare(long slot, long round) =>
        Do(new PrepareBallot(new Epoch(slot), Registers.Ballot(round)));

    private RegisterAnswer Accept(long slot, long round, string text = "test") =>
        Do(new AcceptValue(Registers.Ballot(round), Registers.Value(slot, text)));

    private RegisterAnswer Decided(long slot, string text = "test") =>
        Do(new LearnDecision(Registers.Value(slot, text)));

    [Fact]
    public void A_promise_refuses_lower_ballots_and_says_the_higher_one()
    {
        Assert.Equal(Status.Ok, Prepare(1, 5).Status);
        var outbid = Prepare(1, 4);
        Assert.Equal((Status.Outbid, Registers.Ballot(5)), (outbid.Status, outbid.Register!.Promised));
        Assert.Equal(Status.Outbid, Accept(1, 4).Status);
        Assert.Equal(Status.Ok, Accept(1, 5).Status);
    }

    [Fact]
    public void Ballots_of_one_round_are_ordered_by_proposer()
    {
        Do(new PrepareBallot(new Epoch(1), Registers.Ballot(5, 2)));
        Assert.Equal(Status.Outbid, Do(new PrepareBallot(new Epoch(1), Registers.Ballot(5, 1))).Status);
        Assert.Equal(Status.Ok, Do(new PrepareBallot(new Epoch(1), Registers.Ballot(5, 3))).Status);
    }

    [Fact]
    public void Later_proposer_learns_the_accepted_value()
    {
        Prepare(1, 1);
        Accept(1, 1, "first");
        var answer = Prepare(1, 2);
        Assert.Equal((Registers.Ballot(1), "first", false),
            (answer.Register!.Accepted, Registers.Text(answer.Register.Value!), answer.Register.IsDecided));
    }

    [Fact]
    public void An_accept_is_a_promise_too()
    {
        Accept(1, 3);
        Assert.Equal(Status.Outbid, Prepare(1, 2).Status);
    }

    [Fact]
    public void Ballot_has_one_value()
    {
        Accept(1, 3, "a");
        Assert.Equal(Status.Ok, Accept(1, 3, "a").Status);
        Assert.Equal(Status.Conflict, Accept(1, 3, "b").Status);
    }

    [Fact]
    public void A_decision_is_final()
    {
        Assert.Equal(Status.Ok, Decided(1, "a").Status);
        Assert.Equal(Status.Ok, Decided(1, "a").Status);
        Assert.Equal(Status.Conflict, Decided(1, "b").Status);
        var late = Accept(1, 99, "b");
        Assert.Equal((true, "a"), (late.Register!.IsDecided, Registers.Text(late.Register.Value!)));
        Assert.True(Prepare(1, 100).Register!.IsDecided);
        Assert.Equal(new Epoch(1), Prepare(1, 100).Known);
    }

    [Fact]
    public void Latest_is_the_newest_decision_and_the_highest_slot_in_use()
    {
        Assert.Null(Do(new ReadNewest()).Register);
        Decided(1);
        Decided(2);
        Prepare(3, 1);
        var answer = Do(new ReadNewest());
        Assert.Equal((new Epoch(2), new Epoch(3)), (answer.Newest!.Slot, answer.Register!.Slot));
    }

    [Fact]
    public void Below_the_floor_everything_is_superseded_by_the_latest()
    {
        for (var slot = 1; slot <= 20; slot++) Decided(slot);
        Assert.True(_core.Floor > Epoch.First);
        foreach (var answer in new[] { Prepare(1, 1), Accept(1, 1), Decided(1), Do(new ReadRegister(new Epoch(1))) })
            Assert.Equal((Status.Superseded, new Epoch(20)), (answer.Status, answer.Newest!.Slot));
        Assert.True(Do(new ReadRegister(new Epoch(20))).Register!.IsDecided);
        Assert.True(Do(new ReadRegister(_core.Floor)).Register!.IsDecided);
    }

    [Fact]
    public void Slots_far_ahead_take_no_room_and_keep_none_from_the_next_one()
    {
        for (var slot = 2; slot <= 3; slot++) Assert.Equal(Status.Ok, Prepare(slot, 1).Status);
        Assert.Equal(Status.Overloaded, Prepare(4, 1).Status);
        Assert.Equal(Status.Overloaded, Accept(long.MaxValue, 1).Status);
        Assert.Equal(Status.Ok, Prepare(1, 1).Status);
        Assert.Equal(Status.Ok, Decided(9).Status);
        Assert.Equal(Status.Ok, Prepare(10, 1).Status);
    }

    /// <summary>A wrong number must not become the newest epoch of all, which readers follow.</summary>
    [Fact]
    public void Decision_far_above_the_known_epochs_is_refused_without_effect()
    {
        Assert.Equal(Status.Ok, Decided(1).Status);
        Assert.Equal(Status.BadRequest, Decided(2 + MessageLimits.EpochReach).Status);
        Assert.Equal(Status.BadRequest, Decided(long.MaxValue).Status);
        Assert.Equal(new Epoch(1), _core.Newest!.Slot);
        Assert.Equal(Status.Ok, Decided(1 + MessageLimits.EpochReach).Status);
    }

    /// <summary>R12: a ballot at the highest round would leave none to outbid it.</summary>
    [Fact]
    public void R12_no_ballot_is_the_last_one()
    {
        Assert.Equal(Status.Outbid, Prepare(1, long.MaxValue).Status);
        Assert.Equal(Status.Outbid, Accept(1, long.MaxValue).Status);
        var round = Prepare(1, 1).Register!.Promised.Round;
        Assert.Equal(2 * AcceptorCore.MaxRoundsAhead, round);
        Assert.Equal(Status.Ok, Prepare(1, round + 1).Status);
        Assert.Equal(Status.Ok, Accept(1, round + 1).Status);
    }

    /// <summary>R12: another acceptor has been driven farther, so its rounds are out of reach at first.</summary>
    [Fact]
    public void R12_an_acceptor_that_promised_less_catches_up_with_repeated_attempts()
    {
        const long Far = (5 * AcceptorCore.MaxRoundsAhead) + 7;
        var attempts = 0;
        while (Prepare(1, Far + attempts).Status != Status.Ok) Assert.True(++attempts < 10);
        Assert.Equal(5, attempts);
    }

    [Fact]
    public void Only_real_slots_and_ballots()
    {
        Assert.Equal(Status.BadRequest, Do(new PrepareBallot(Epoch.None, Registers.Ballot(1))).Status);
        Assert.Equal(Status.BadRequest, Do(new PrepareBallot(new Epoch(1), default)).Status);
    }

    /// <summary>R12: whatever changes what a later answer may say is recorded; whatever does not, is not.</summary>
    [Fact]
    public void Replaying_the_records_makes_an_equal_core()
    {
        var random = new Random(7);
        var options = new AcceptorOptions { KeptSlots = 3 };
        var core = new AcceptorCore(options);
        var replayed = new AcceptorCore(options);
        var values = Enumerable.Range(1, 40).Select(slot => Registers.Value(slot)).ToArray();
        for (var i = 0; i < 3000; i++)
        {
            var slot = random.Next(1, 3) + (i / 100);
            RegisterRequest request = random.Next(6) switch
            {
                0 or 1 => new PrepareBallot(new Epoch(slot), Registers.Ballot(random.Next(1, 20))),
                2 or 3 => new AcceptValue(Registers.Ballot(random.Next(1, 20)), values[slot - 1]),
                4 => new ReadRegister(new Epoch(slot)),
                _ => random.Next(5) == 0 ? new LearnDecision(values[slot - 1]) : new ReadNewest(),
            };
            foreach (var record in core.Handle(request).Records) replayed.Replay(record);
            Assert.Equal(Describe(core), Describe(replayed));
        }

        var snapshot = new AcceptorCore(options);
        foreach (var record in core.Snapshot()) snapshot.Replay(record);
        Assert.Equal(Describe(core), Describe(snapshot));
    }

    private static string Describe(AcceptorCore core)
    {
        var answers = Enumerable.Range(1, 45).Select(slot => core.Handle(new ReadRegister(new Epoch(slot))).Answer);
        return string.Join('\n', answers.Append(core.Handle(new ReadNewest()).Answer));
    }
}
