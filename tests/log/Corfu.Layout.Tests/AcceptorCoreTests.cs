using Corfu.Protocol;

namespace Corfu.Layout.Tests;

public sealed class AcceptorCoreTests
{
    private readonly AcceptorCore _core = new(new AcceptorOptions { KeptSlots = 4, MaxOpenSlots = 3 });

    private LayoutResponse Do(LayoutRequest request) => (LayoutResponse)_core.Handle(request).Response;

    private LayoutResponse Prepare(long slot, long round) =>
        Do(new PrepareRequest(new Epoch(slot), Setup.Ballot(round)));

    private LayoutResponse Accept(long slot, long round, string reason = "test") =>
        Do(new AcceptRequest(Setup.Ballot(round), Setup.Projection(slot, reason)));

    private LayoutResponse Decided(long slot, string reason = "test") =>
        Do(new DecidedRequest(Setup.Projection(slot, reason)));

    [Fact]
    public void A_promise_refuses_lower_ballots_and_says_the_higher_one()
    {
        Assert.Equal(Status.Ok, Prepare(1, 5).Status);
        var outbid = Prepare(1, 4);
        Assert.Equal((Status.Outbid, Setup.Ballot(5)), (outbid.Status, outbid.Slot!.Promised));
        Assert.Equal(Status.Outbid, Accept(1, 4).Status);
        Assert.Equal(Status.Ok, Accept(1, 5).Status);
    }

    [Fact]
    public void Ballots_of_one_round_are_ordered_by_proposer()
    {
        Do(new PrepareRequest(new Epoch(1), Setup.Ballot(5, 2)));
        Assert.Equal(Status.Outbid, Do(new PrepareRequest(new Epoch(1), Setup.Ballot(5, 1))).Status);
        Assert.Equal(Status.Ok, Do(new PrepareRequest(new Epoch(1), Setup.Ballot(5, 3))).Status);
    }

    [Fact]
    public void Later_proposer_learns_the_accepted_value()
    {
        Prepare(1, 1);
        Accept(1, 1, "first");
        var answer = Prepare(1, 2);
        Assert.Equal((Setup.Ballot(1), "first", false),
            (answer.Slot!.Accepted, answer.Slot.Value!.Reason, answer.Slot.IsDecided));
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
        Assert.Equal((true, "a"), (late.Slot!.IsDecided, late.Slot.Value!.Reason));
        Assert.True(Prepare(1, 100).Slot!.IsDecided);
        Assert.Equal(new Epoch(1), Prepare(1, 100).Epoch);
    }

    [Fact]
    public void Latest_is_the_newest_decision_and_the_highest_slot_in_use()
    {
        Assert.Null(Do(new LatestRequest(Epoch.None)).Slot);
        Decided(1);
        Decided(2);
        Prepare(3, 1);
        var answer = Do(new LatestRequest(Epoch.None));
        Assert.Equal((new Epoch(2), new Epoch(3)), (answer.Latest!.Epoch, answer.Slot!.Slot));
    }

    [Fact]
    public void Below_the_floor_everything_is_superseded_by_the_latest()
    {
        for (var slot = 1; slot <= 20; slot++) Decided(slot);
        Assert.True(_core.Floor > Epoch.First);
        foreach (var answer in new[] { Prepare(1, 1), Accept(1, 1), Decided(1), Do(new ReadSlotRequest(new Epoch(1))) })
            Assert.Equal((Status.Superseded, new Epoch(20)), (answer.Status, answer.Latest!.Epoch));
        Assert.True(Do(new ReadSlotRequest(new Epoch(20))).Slot!.IsDecided);
        Assert.True(Do(new ReadSlotRequest(_core.Floor)).Slot!.IsDecided);
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
        Assert.Equal(new Epoch(1), _core.Latest!.Epoch);
        Assert.Equal(Status.Ok, Decided(1 + MessageLimits.EpochReach).Status);
    }

    /// <summary>R12: a ballot at the highest round would leave none to outbid it.</summary>
    [Fact]
    public void R12_no_ballot_is_the_last_one()
    {
        Assert.Equal(Status.Outbid, Prepare(1, long.MaxValue).Status);
        Assert.Equal(Status.Outbid, Accept(1, long.MaxValue).Status);
        var round = Prepare(1, 1).Slot!.Promised.Round;
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
        Assert.Equal(Status.BadRequest, Do(new PrepareRequest(Epoch.None, Setup.Ballot(1))).Status);
        Assert.Equal(Status.BadRequest, Do(new PrepareRequest(new Epoch(1), default)).Status);
        Assert.Equal(Status.Unsupported, _core.Handle(new ConfirmEpochRequest(new Epoch(1))).Response.Status);
    }

    /// <summary>R12: whatever changes what a later answer may say is recorded; whatever does not, is not.</summary>
    [Fact]
    public void Replaying_the_records_makes_an_equal_core()
    {
        var random = new Random(7);
        var options = new AcceptorOptions { KeptSlots = 3 };
        var core = new AcceptorCore(options);
        var replayed = new AcceptorCore(options);
        var values = Enumerable.Range(1, 40).Select(slot => Setup.Projection(slot)).ToArray();
        for (var i = 0; i < 3000; i++)
        {
            var slot = random.Next(1, 3) + (i / 100);
            LayoutRequest request = random.Next(6) switch
            {
                0 or 1 => new PrepareRequest(new Epoch(slot), Setup.Ballot(random.Next(1, 20))),
                2 or 3 => new AcceptRequest(Setup.Ballot(random.Next(1, 20)), values[slot - 1]),
                4 => new ReadSlotRequest(new Epoch(slot)),
                _ => random.Next(5) == 0 ? new DecidedRequest(values[slot - 1]) : new LatestRequest(Epoch.None),
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
        var slots = Enumerable.Range(1, 45).Select(slot => core.Handle(new ReadSlotRequest(new Epoch(slot))).Response);
        return string.Join('\n', slots.Append(core.Handle(new LatestRequest(Epoch.None)).Response)
            .Cast<LayoutResponse>()
            .Select(
                r =>
                    $"{r.Status} {r.Latest?.Epoch} {r.Slot?.Promised} {r.Slot?.Accepted} {r.Slot?.Value?.Epoch} "
                    + $"{r.Slot?.IsDecided}"));
    }
}
