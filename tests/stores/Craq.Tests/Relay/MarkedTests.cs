using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Relay;

/// <summary>Marks of the tail beside the chain's answers (CRAQ 4.2).</summary>
public sealed class MarkedTests
{
    private static readonly ChainOptions s_relay = new() { Values = ValuePath.Relay };

    [Theory]
    [InlineData(5, "eeeee", ValuePath.Relay, 3)]
    [InlineData(5, "eeeee", ValuePath.Chain, 0)]
    [InlineData(5, "eewww", ValuePath.Chain, 3)]
    [InlineData(2, "ew", ValuePath.Relay, 0)]
    [InlineData(1, "e", ValuePath.Relay, 0)]
    public void Tail_tells_the_mark_to_members_that_have_no_answer_of_the_tail_where_the_way_is_long(
        int members, string datacenters, ValuePath values, int told) => TestChain.Run(async chain =>
        {
            chain.Network.Sent.Clear();
            var version = await chain.PutAsync("x", "v");
            await chain.UntilAsync(() => chain.MarkOf(1) == version);
            await chain.DelayAsync(100);
            var marks = chain.Network.Sent.Where(sent => sent.Request is MarkedRequest).ToArray();
            Assert.Equal(Enumerable.Range(1, told).Select(number => Samples.Id(number)),
                marks.Select(sent => sent.To).Order());
            Assert.All(marks, sent => Assert.Equal((Samples.Id(members), version),
                (sent.From, ((MarkedRequest)sent.Request).Mark)));
        }, members, datacenters: datacenters, options: new ChainOptions { Values = values });

    [Fact]
    public void Write_is_answered_by_the_mark_although_the_answers_of_the_chain_are_lost() =>
        TestChain.Run(async chain =>
        {
            chain.Network.DropsAnswer = (_, _, request) => request is ReplicateRequest;
            chain.Network.Sent.Clear();
            var version = await chain.PutAsync("x", "v");
            Assert.True(chain.MarkOf(1) >= version);
            // No probe was needed.
            Assert.DoesNotContain(chain.Network.Sent, sent => sent.Request is ReplicateRequest { Records: [] });
        }, members: 5, options: s_relay);

    [Fact]
    public void Lost_mark_is_made_good_by_the_answers_of_the_chain_and_is_not_repeated() =>
        TestChain.Run(async chain =>
        {
            chain.Network.Drops = (_, _, request) => request is MarkedRequest;
            chain.Network.Sent.Clear();
            await chain.PutAsync("x", "v");
            await chain.DelayAsync(5000);
            Assert.Equal(2, chain.Network.Sent.Count(sent => sent.Request is MarkedRequest));
            Assert.Equal("v", await chain.GetAsync(2, "x"));
        }, members: 4, options: s_relay);

    [Fact]
    public void One_mark_is_under_way_to_a_member_and_the_next_one_is_the_newest() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.DelayAsync(100);
        var gate = new TaskCompletionSource();
        chain.Network.Sent.Clear();
        chain.Network.Holds = (_, to, request) =>
            request is MarkedRequest && to == Samples.Id(1) ? gate.Task : Task.CompletedTask;
        var newest = ObjectVersion.None;
        for (var i = 0; i < 5; i++) newest = await chain.PutAsync("x", $"{i}");
        Assert.Equal(1, chain.Network.Count<MarkedRequest>(Samples.Id(1)));
        Assert.Equal(5, chain.Network.Count<MarkedRequest>(Samples.Id(2)));
        gate.SetResult();
        await chain.UntilAsync(() => chain.Network.Count<MarkedRequest>(Samples.Id(1)) == 2);
        await chain.DelayAsync(100);
        Assert.Equal(2, chain.Network.Count<MarkedRequest>(Samples.Id(1)));
        var last = chain.Network.Sent.Last(sent => sent.Request is MarkedRequest && sent.To == Samples.Id(1));
        Assert.Equal(newest, ((MarkedRequest)last.Request).Mark);
    }, members: 4, options: s_relay);

    /// <summary>C4.</summary>
    [Fact]
    public void Mark_counts_in_the_same_epoch_and_up_to_the_newest_record() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        await chain.UntilAsync(() => chain.MarkOf(2) == version);
        var epoch = chain.Config.Epoch;
        var ahead = version.Next().Next();
        Assert.Equal(Status.Sealed, await MarkedAsync(new Epoch(epoch.Value - 1)));
        Assert.Equal(Status.NotInstalled, await MarkedAsync(new Epoch(epoch.Value + 1)));
        Assert.Equal(Status.Ok, await MarkedAsync(epoch));
        Assert.Equal(version, chain.MarkOf(2));
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")));
        await chain.UntilAsync(() => chain.LastOf(2) > version);
        await chain.DelayAsync(50);
        Assert.Equal(version, chain.MarkOf(2));
        chain.Store(3).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);

        async Task<Status> MarkedAsync(Epoch of) =>
            (await chain.CallAsync(2, new MarkedRequest(of, chain.Id, ahead))).Status;
    }, options: s_relay);
}
