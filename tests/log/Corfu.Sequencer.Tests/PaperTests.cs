using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

public sealed class PaperTests
{
    /// <summary>TOCS 2.3: "a simple networked counter ... returns its current value and increments itself".</summary>
    [Fact]
    public void Tokens_are_consecutive_and_no_position_is_granted_twice()
    {
        var core = Setup.Started();
        for (var i = 0; i < 10; i++) Assert.Equal(new LogPosition(i), core.Token().First);
    }

    /// <summary>TOCS 2.3: the starting counter of a new sequencer comes from the sealed units, here from the
    /// projection.</summary>
    [Fact]
    public void A_new_sequencer_starts_where_the_projection_says() =>
        Assert.Equal(new LogPosition(77), Setup.Started(5, 77).Token().First);

    /// <summary>Tango 5: "maintains the last K offsets it has issued for each stream ID" and returns them with the new
    /// offset.</summary>
    [Fact]
    public void Token_comes_with_the_last_K_positions_of_the_streams()
    {
        var core = Setup.Started();
        for (var i = 0; i < 6; i++) core.Token(1, 300);
        Assert.Equal([5, 4, 3, 2], core.Token(1, 300).Previous[0].Offsets());
    }

    /// <summary>Tango 4.1: one entry may belong to several streams; the answer has a header for each, in request
    /// order.</summary>
    [Fact]
    public void Token_for_several_streams_is_one_position_in_all_streams()
    {
        var core = Setup.Started();
        core.Token(1, 300);
        core.Token(1, 301);
        var both = core.Token(1, 301, 300, 302);
        Assert.Equal([Setup.Tail(301, 1), Setup.Tail(300, 0), Setup.Tail(302)], both.Previous);
        Assert.Equal([[2, 0], [2, 1], [2]], core.TailOf(300, 301, 302).Tails.Select(t => t.Offsets()));
    }

    /// <summary>Tango 5: "also supports an interface to return this information without incrementing the
    /// counter".</summary>
    [Fact]
    public void Tail_query_grants_no_position()
    {
        var core = Setup.Started();
        core.Token(3, 300);
        Assert.Equal(new LogPosition(3), core.TailOf(300).Tail);
        Assert.Equal(new LogPosition(3), core.TailOf(300).Tail);
        Assert.Equal(new LogPosition(3), core.Token().First);
    }

    /// <summary>Tango 5, failure handling: two sequencers must never serve one epoch; the old one's tokens die with its
    /// epoch.</summary>
    [Fact]
    public void Another_incarnation_cannot_be_started_by_a_projection_that_names_this_one()
    {
        var other = new SequencerCore(new NodeId(Guid.NewGuid()));
        Assert.Equal(Status.WrongNode, other.Bootstrap(1, 0));
        Assert.Equal(Status.NotBootstrapped, other.TokenAt(1, 1, 0).Status);
    }
}
