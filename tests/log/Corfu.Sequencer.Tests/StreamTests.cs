using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

public sealed class StreamTests
{
    [Fact]
    public void Stream_of_a_new_log_is_known_and_empty()
    {
        var core = Setup.Started();
        Assert.Equal([Setup.Tail(300)], core.TailOf(300).Tails);
        Assert.Equal(0, core.StreamCount);
    }

    [Fact]
    public void Request_of_unknown_streams_elsewhere_names_the_streams_and_grants_no_position()
    {
        var core = Setup.Started(2, 100);
        Assert.Equal(Status.Ok, core.Load(301, 40));
        var token = core.Token(1, 300, 301, 302);
        Assert.Equal(Status.UnknownStream, token.Status);
        Assert.Equal(Setup.Ids(300, 302), token.Unknown);
        Assert.Equal(Setup.Ids(300, 302), core.TailOf(300, 301, 302).Unknown);
        Assert.Equal(new LogPosition(100), core.Tail);
    }

    [Fact]
    public void Token_tells_the_tails_of_streams_besides_as_of_the_grant()
    {
        var core = Setup.Started();
        core.Token(1, 301);
        core.Token(1, 302);
        var token = Besides(core, 301, 302, 303);
        Assert.Equal([Setup.Tail(301, 0), Setup.Tail(302, 1), Setup.Tail(303)],
            token.Besides.Select(tail => Setup.Tail(tail.Stream.Value, tail.Offsets())));
        Assert.Equal(2, token.First.Offset);
    }

    [Fact]
    public void Token_is_granted_where_a_stream_besides_is_unknown()
    {
        var core = Setup.Started(2, 100);
        core.Load(300);
        core.Load(301, 40);
        var token = Besides(core, 301, 302);
        Assert.Equal(Status.Ok, token.Status);
        Assert.Equal(100, token.First.Offset);
        Assert.Empty(token.Besides);
    }

    private static TokenResponse Besides(SequencerCore core, params ulong[] streams) =>
        (TokenResponse)core.Handle(new TokenRequest(core.Epoch, 1, Setup.Ids(300), Besides: Setup.Ids(streams)));

    [Fact]
    public void Stream_handed_over_continues_the_backpointers()
    {
        var core = Setup.Started(2, 100);
        Assert.Equal(Status.Ok, core.Load(300, 90, 50, 10));
        Assert.Equal([90, 50, 10], core.Token(2, 300).Previous[0].Offsets());
        Assert.Equal([101, 100, 90, 50], core.TailOf(300).Tails[0].Offsets());
    }

    [Fact]
    public void A_stream_handed_over_as_empty_is_known()
    {
        var core = Setup.Started(2, 100);
        Assert.Equal(Status.Ok, core.Load(300));
        Assert.Equal(Status.Ok, core.Token(1, 300).Status);
    }

    [Fact]
    public void The_first_hand_over_wins()
    {
        var core = Setup.Started(2, 100);
        core.Load(300, 90);
        core.Token(1, 300);
        Assert.Equal(Status.Ok, core.Load(300, 95, 90));
        Assert.Equal([100, 90], core.TailOf(300).Tails[0].Offsets());
    }

    [Theory]
    [InlineData(new long[] { 100 })]
    [InlineData(new long[] { 50, 50 })]
    [InlineData(new long[] { 50, 60 })]
    public void A_hand_over_must_be_below_the_start_and_descending(long[] positions)
    {
        var core = Setup.Started(2, 100);
        Assert.Equal(Status.BadRequest, core.Load(300, positions));
        Assert.Equal(Status.UnknownStream, core.TailOf(300).Status);
    }

    [Fact]
    public void A_stream_named_twice_in_one_token_is_refused()
    {
        var core = Setup.Started();
        Assert.Equal(Status.BadRequest, core.Token(1, 300, 301, 300).Status);
        var many = Enumerable.Range(300, 40).Select(i => (ulong)i).ToArray();
        Assert.Equal(Status.Ok, core.Token(1, many).Status);
        Assert.Equal(Status.BadRequest, core.Token(1, [.. many, 310]).Status);
        Assert.Equal(new LogPosition(1), core.Tail);
    }

    [Fact]
    public void New_streams_are_refused_at_the_limit_and_known_ones_go_on()
    {
        var core = Setup.Started(options: new SequencerOptions { MaxStreams = 2 });
        core.Token(1, 300, 301);
        Assert.Equal(Status.StreamLimit, core.Token(1, 302).Status);
        Assert.Equal(Status.StreamLimit, core.Token(1, 300, 302).Status);
        Assert.Equal(Status.Ok, core.Token(1, 300, 301).Status);
        Assert.Equal(new LogPosition(2), core.Tail);
    }

    /// <summary>Design 4: within an epoch no stream with a grant is evicted.</summary>
    [Fact]
    public void Hand_over_at_the_limit_displaces_only_a_stream_without_a_grant()
    {
        var core = Setup.Started(2, 100, new SequencerOptions { MaxStreams = 2 });
        core.Load(300, 30);
        core.Load(301, 31);
        core.Token(1, 300);
        Assert.Equal(Status.Ok, core.Load(302, 32));
        Assert.Equal(Status.UnknownStream, core.TailOf(301).Status);
        Assert.Equal([100, 30], core.TailOf(300).Tails[0].Offsets());
        core.Token(1, 302);
        Assert.Equal(Status.StreamLimit, core.Load(301, 31));
        Assert.Equal([100, 30], core.TailOf(300).Tails[0].Offsets());
    }

    [Fact]
    public void Long_runs_leave_the_last_K_positions()
    {
        var core = Setup.Started();
        core.Token(1, 300);
        core.Token(1000, 300);
        Assert.Equal([1000, 999, 998, 997], core.TailOf(300).Tails[0].Offsets());
    }

    [Fact]
    public void The_counter_does_not_overflow()
    {
        var core = Setup.Started(2, long.MaxValue - 3);
        Assert.Equal(Status.BadRequest, core.Token(5).Status);
        Assert.Equal(Status.Ok, core.Token(3).Status);
    }
}
