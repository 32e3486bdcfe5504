using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

public sealed class EpochTests
{
    [Fact]
    public void Sequencer_without_a_bootstrap_grants_no_position()
    {
        var core = new SequencerCore(Setup.Self);
        Assert.Equal(Status.NotBootstrapped, core.TokenAt(1, 1, 0).Status);
        Assert.Equal(Status.NotBootstrapped, core.TokenAt(0, 1, 0).Status);
    }

    /// <summary>An incarnation takes one bootstrap per epoch (R7).</summary>
    [Fact]
    public void Repeated_bootstrap_has_no_effect()
    {
        var core = Setup.Started(3, 10);
        core.Token(5);
        Assert.Equal(Status.Ok, core.Bootstrap(3, 10));
        Assert.Equal(new LogPosition(15), core.Token().First);
    }

    [Fact]
    public void A_different_projection_for_the_same_epoch_is_a_conflict()
    {
        var core = Setup.Started(3, 10);
        core.Token(5);
        Assert.Equal(Status.Conflict, core.Bootstrap(3, 10, reason: "other"));
        Assert.Equal(new LogPosition(15), core.Token().First);
    }

    [Fact]
    public void An_older_bootstrap_is_refused()
    {
        var core = Setup.Started(3, 10);
        Assert.Equal(Status.Sealed, core.Bootstrap(2, 0));
        Assert.Equal(new LogPosition(10), core.Token().First);
    }

    /// <summary>A wrong number must not make a standby useless for every real epoch.</summary>
    [Fact]
    public void Bootstrap_far_above_the_known_epochs_is_refused()
    {
        var core = new SequencerCore(Setup.Self);
        Assert.Equal(Status.BadRequest, core.Bootstrap(1 + MessageLimits.EpochReach, 10));
        Assert.Equal(Status.BadRequest, core.Bootstrap(long.MaxValue, 10));
        Assert.Equal(Status.Ok, core.Bootstrap(3, 10));
        Assert.Equal(Status.BadRequest, core.Bootstrap(4 + MessageLimits.EpochReach, 10));
        Assert.Equal(Status.Ok, core.Bootstrap(3 + MessageLimits.EpochReach, 10));
    }

    [Fact]
    public void Every_answer_says_the_epoch_and_other_epochs_are_refused()
    {
        var core = Setup.Started(3, 10);
        var below = core.TokenAt(2, 1, 0);
        Assert.Equal((Status.Sealed, new Epoch(3)), (below.Status, below.Epoch));
        Assert.Equal(Status.NotBootstrapped, core.TokenAt(4, 1, 0).Status);
        Assert.Equal(Status.Sealed, core.Handle(new TailRequest(new Epoch(2), [])).Status);
        Assert.Equal(Status.Sealed, core.Handle(new GrantsRequest(new Epoch(2), [])).Status);
        Assert.Equal(Status.Sealed, core.Handle(new LoadStreamsRequest(new Epoch(2), [])).Status);
        Assert.Equal(Status.Ok, core.Handle(new SequencerInfoRequest(new Epoch(2))).Status);
    }

    /// <summary>R7: tokens and remembered tails die with their epoch; the start may lie below what was
    /// granted.</summary>
    [Fact]
    public void A_new_epoch_forgets_the_old_ones_tokens_tails_and_grants()
    {
        var core = Setup.Started(1, 0);
        core.Token(10, 300);
        Assert.Equal(Status.Ok, core.Bootstrap(2, 4));
        Assert.Equal(Status.UnknownStream, core.TailOf(300).Status);
        Assert.Empty(core.Grants(3, 5));
        Assert.Equal(new LogPosition(4), core.Token().First);
    }

    [Fact]
    public void Unit_requests_are_not_understood() =>
        Assert.Equal(Status.Unsupported, Setup.Started().Handle(new ConfirmEpochRequest(new Epoch(1))).Status);

    [Fact]
    public void R2_a_projection_of_another_cluster_begins_no_epoch()
    {
        var core = Setup.Started(epoch: 3, start: 10);
        var foreign = Setup.Projection(4, 20, cluster: new ClusterId(Guid.AllBitsSet));
        Assert.Equal(Status.WrongNode, core.Handle(new BootstrapRequest(foreign)).Status);
        Assert.Equal(new Epoch(3), core.Epoch);
    }
}
