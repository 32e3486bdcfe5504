using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

public sealed class GrantAndGraceTests
{
    /// <summary>R8: a filler gets exactly the headers that the lost append's writer was given.</summary>
    [Fact]
    public void Grants_repeat_the_headers_of_each_position_of_a_run()
    {
        var core = Setup.Started();
        core.Token(1, 300);
        core.Token(1);
        core.Token(6, 300, 301);
        var grants = core.Grants(0, 1, 2, 4, 7, 8);
        Assert.Equal([0L, 2, 4, 7], grants.Select(g => g.Position.Offset));
        Assert.Equal([Setup.Tail(300)], grants[0].Previous);
        Assert.Equal([Setup.Tail(300, 0), Setup.Tail(301)], grants[1].Previous);
        Assert.Equal([Setup.Tail(300, 3, 2, 0), Setup.Tail(301, 3, 2)], grants[2].Previous);
        Assert.Equal([Setup.Tail(300, 6, 5, 4, 3), Setup.Tail(301, 6, 5, 4, 3)], grants[3].Previous);
    }

    [Fact]
    public void Memory_of_grants_is_bounded_and_the_newest_stay()
    {
        var core = Setup.Started(options: new SequencerOptions { RememberedGrants = 8, RememberedWords = 1000 });
        for (var i = 0; i < 100; i++) core.Token(1, 300);
        Assert.Equal(Enumerable.Range(92, 8).Select(i => (long)i),
            core.Grants([.. Enumerable.Range(0, 100).Select(i => (long)i)]).Select(g => g.Position.Offset));
    }

    /// <summary>A token's run may have the largest number of streams and positions: the answer would be larger than any
    /// frame.</summary>
    [Fact]
    public void An_answer_about_many_streams_stops_early_and_the_rest_is_asked_again()
    {
        var core = Setup.Started();
        core.Token(40, [.. Enumerable.Range(300, EntryLimits.MaxStreams).Select(s => (ulong)s)]);
        List<long> heard = [];
        var left = Enumerable.Range(0, 40).Select(i => new LogPosition(i)).ToArray();
        var answers = 0;
        for (; left.Length > 0; answers++)
        {
            var answer = (GrantsResponse)core.Handle(new GrantsRequest(core.Epoch, [.. left]));
            Assert.InRange(answer.Examined, 1, MessageLimits.GrantBudget / EntryLimits.MaxStreams);
            heard.AddRange(answer.Grants.Select(g => g.Position.Offset));
            left = left[answer.Examined..];
        }

        Assert.Equal(Enumerable.Range(0, 40).Select(i => (long)i), heard);
        Assert.Equal(3, answers);
    }

    [Fact]
    public void A_token_for_more_streams_than_an_entry_has_is_refused()
    {
        var core = Setup.Started();
        ulong[] streams = [.. Enumerable.Range(300, EntryLimits.MaxStreams + 1).Select(s => (ulong)s)];
        Assert.Equal(Status.BadRequest, core.Token(1, streams).Status);
        Assert.Equal(Status.Ok, core.Token(1, streams[1..]).Status);
    }

    [Fact]
    public void Overwritten_words_are_never_answered()
    {
        var core = Setup.Started(options: new SequencerOptions { RememberedGrants = 1000, RememberedWords = 40 });
        for (var i = 0; i < 100; i++) core.Token(1, 300);
        var grants = core.Grants([.. Enumerable.Range(0, 100).Select(i => (long)i)]);
        Assert.NotEmpty(grants);
        foreach (var grant in grants)
        {
            var p = grant.Position.Offset;
            Assert.Equal([p - 1, p - 2, p - 3, p - 4], grant.Previous[0].Offsets());
        }
    }

    [Fact]
    public void A_run_with_more_headers_than_memory_is_not_remembered()
    {
        var core = Setup.Started(options: new SequencerOptions { RememberedWords = 12 });
        core.Token(1, 300, 301, 302);
        core.Token(1, 300);
        Assert.Equal([1L], core.Grants(0, 1).Select(g => g.Position.Offset));
    }

    /// <summary>A filler waits for the longest grace that recent grants asked for (R10).</summary>
    [Fact]
    public void The_longest_grace_asked_for_is_told_until_enough_was_granted()
    {
        var core = Setup.Started(options: new SequencerOptions { GraceSpan = 10, MaxGraceMilliseconds = 500 });
        Assert.Equal(0, core.TailOf().GraceMilliseconds);
        core.TokenAt(1, 1, 50);
        core.TokenAt(1, 4, 20);
        Assert.Equal(50, core.TailOf().GraceMilliseconds);
        core.Token(6);
        Assert.Equal(20, core.TailOf().GraceMilliseconds);
        core.Token(10);
        Assert.Equal(0, core.TailOf().GraceMilliseconds);
        core.TokenAt(1, 1, 60000);
        Assert.Equal(500, core.TailOf().GraceMilliseconds);
    }

    [Fact]
    public void Grace_dies_with_the_epoch()
    {
        var core = Setup.Started();
        core.TokenAt(1, 1, 50);
        core.Bootstrap(2, 0);
        Assert.Equal(0, core.TailOf().GraceMilliseconds);
    }

    /// <summary>Random runs over few streams, against the plainest model there is.</summary>
    [Fact]
    public void Backpointers_agree_with_a_full_history()
    {
        var random = new Random(4711);
        var core = Setup.Started();
        var history = new Dictionary<ulong, List<long>>();
        for (var i = 0; i < 2000; i++)
        {
            var streams = Enumerable.Range(300, 5).Select(s => (ulong)s).Where(_ => random.Next(3) == 0).ToArray();
            var count = random.Next(1, 7);
            var token = core.Token(count, streams);
            for (var s = 0; s < streams.Length; s++)
            {
                var list = history.TryGetValue(streams[s], out var known) ? known : history[streams[s]] = [];
                Assert.Equal(list.AsEnumerable().Reverse().Take(4), token.Previous[s].Offsets());
                for (var j = 0; j < count; j++)
                {
                    var grant = Assert.Single(core.Grants(token.First.Offset + j));
                    Assert.Equal(list.AsEnumerable().Reverse().Take(4), grant.Previous[s].Offsets());
                    list.Add(token.First.Offset + j);
                }
            }
        }

        foreach (var (stream, list) in history)
            Assert.Equal(list.AsEnumerable().Reverse().Take(4), core.TailOf(stream).Tails[0].Offsets());
    }
}
