using Craq.Coordination;
using Craq.Storage;
using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Relay;

/// <summary>Values beside the chain (CRAQ 4.2).</summary>
public sealed class RelayTests
{
    private static readonly ChainOptions s_relay = new() { Values = ValuePath.Relay };
    private static readonly string s_large = new('v', 8 << 10);
    private static readonly string s_other = new('w', 8 << 10);

    [Fact]
    public void Relayed_value_reaches_every_member_once_and_the_record_goes_alone() =>
        TestChain.Run(async chain =>
        {
            var version = await chain.PutAsync("x", s_large);
            await AllHaveAsync(chain, version, members: 5);
            for (var node = 2; node <= 5; node++)
            {
                Assert.Equal(1, chain.Network.Count<ValuesRequest>(Samples.Id(node)));
                Assert.Equal(s_large, await chain.GetAsync(node, "x", ObjectReadMode.Eventual));
            }

            Assert.Equal(2, chain.Network.Sent.Count(sent =>
                sent.From == Samples.Id(1) && sent.Request is ValuesRequest));
            Assert.Equal(4, Sent(chain, version).Count(record => RecordCodec.AreHeadsAlone(record.Span)));
            Assert.Equal(4, Sent(chain, version).Count());
            Assert.Equal(0, chain.Network.Sent.Count(sent => sent.Request is FetchRequest));
            AssertSameLogs(chain, members: 5);
        }, members: 5, options: s_relay);

    [Theory]
    [InlineData(ValuePath.Chain, 8 << 10)]
    [InlineData(ValuePath.Relay, (8 << 10) - 1)]
    public void Small_value_or_any_value_of_another_chain_goes_with_the_record(ValuePath values, int length) =>
        TestChain.Run(async chain =>
        {
            var version = await chain.PutAsync("x", s_large[..length]);
            await AllHaveAsync(chain, version, members: 3);
            Assert.Equal(0, chain.Network.Sent.Count(sent => sent.Request is ValuesRequest));
            Assert.All(Sent(chain, version), record => Assert.Equal(version, RecordCodec.Decode(record).Version));
        }, options: new ChainOptions { Values = values });

    [Fact]
    public void Relayed_value_is_no_record_before_the_heads_come() => TestChain.Run(async chain =>
    {
        var before = chain.LastOf(2);
        chain.Store(1).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.UntilAsync(() => chain.Network.Count<ValuesRequest>(Samples.Id(3)) == 1);
        await chain.DelayAsync(100);
        Assert.Equal((before, before), (chain.LastOf(2), chain.LastOf(3)));
        Assert.Null(await chain.GetAsync(2, "x", ObjectReadMode.Eventual));
        chain.Store(1).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(0, chain.Network.Sent.Count(sent => sent.Request is FetchRequest));
    }, options: s_relay);

    [Fact]
    public void Record_is_durable_whole_before_the_next_member_gets_the_heads() => TestChain.Run(async chain =>
    {
        chain.Store(2).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(2).Counter == 2);
        await chain.DelayAsync(100);
        Assert.True(chain.LastOf(3) < chain.LastOf(2));
        chain.Store(2).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
        AssertSameLogs(chain, members: 3);
    }, options: s_relay);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Lost_value_costs_one_fetch_from_the_predecessor(int loser) => TestChain.Run(async chain =>
    {
        chain.Network.Drops = (_, to, request) => request is ValuesRequest && to == Samples.Id(loser);
        var version = await chain.PutAsync("x", s_large);
        await AllHaveAsync(chain, version, members: 3);
        var fetch = Assert.Single(chain.Network.Sent, sent => sent.Request is FetchRequest);
        Assert.Equal((Samples.Id(loser), Samples.Id(loser - 1)), (fetch.From, fetch.To));
        AssertSameLogs(chain, members: 3);
        chain.Network.Drops = null;
        await AllHaveAsync(chain, await chain.PutAsync("x", s_other), members: 3);
        Assert.Single(chain.Network.Sent, sent => sent.Request is FetchRequest);
    }, options: s_relay);

    [Fact]
    public void Records_behind_a_missing_value_stay_in_order() => TestChain.Run(async chain =>
    {
        chain.Network.Drops = (_, to, request) => request is ValuesRequest && to == Samples.Id(2);
        var writes = new List<Task<MutateResponse>>();
        for (var i = 0; i < 6; i++)
        {
            writes.Add(chain.MutateAsync(chain.Mutation(TestChain.Put("x", i % 2 == 0 ? s_large : $"{i}"))));
            await chain.DelayAsync(3);
        }

        foreach (var write in writes) Assert.Equal(Status.Ok, (await write).Status);
        await AllHaveAsync(chain, (await writes[^1]).Version, members: 3);
        Assert.Equal("5", await chain.GetAsync(3, "x"));
        AssertSameLogs(chain, members: 3);
    }, options: s_relay);

    /// <summary>C16: the head sends W1 as a version, restarts without it, and gives the version to W2, whose value is
    /// lost on its way to the member that has W1's.</summary>
    [Fact]
    public void Version_that_a_restarted_head_gives_to_another_write_does_not_get_the_first_value() =>
        TestChain.Run(async chain =>
        {
            await chain.PutAsync("x", "before");
            chain.Store(1).IsHeld = true;
            var first = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
            await chain.UntilAsync(() => chain.Network.Count<ValuesRequest>(Samples.Id(3)) == 1);
            await chain.DelayAsync(20);
            var version = chain.LastOf(1);
            await chain.KillAsync(1);
            Assert.Equal(CraqStatus.Unconfirmed, (await first).Status);
            chain.Network.Drops = (_, _, request) => request is ValuesRequest;
            await chain.StartAsync(1);
            // The head has asked its successor, so that the next record goes without its value.
            await chain.DelayAsync(500);
            Assert.Equal(version, await chain.PutAsync("x", s_other));
            await AllHaveAsync(chain, version, members: 3);
            // The first member without the value fetches the record, and passes it on whole.
            Assert.Equal([true, false], Sent(chain, version).Select(record =>
                RecordCodec.AreHeadsAlone(record.Span)));
            Assert.Equal(1, chain.Network.Count<FetchRequest>(Samples.Id(1)));
            for (var node = 1; node <= 3; node++) Assert.Equal(s_other, await chain.GetAsync(node, "x"));
            AssertSameLogs(chain, members: 3);
        }, options: s_relay);

    [Fact]
    public void Restarted_member_has_no_relayed_values_and_fetches_the_record() => TestChain.Run(async chain =>
    {
        var before = await chain.PutAsync("x", "before");
        await chain.UntilAsync(() => chain.MarkOf(2) == before);
        chain.Store(1).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.UntilAsync(() => chain.Network.Count<ValuesRequest>(Samples.Id(2)) == 1);
        await chain.DelayAsync(20);
        await chain.KillAsync(2);
        await chain.StartAsync(2);
        Assert.Equal(before, chain.LastOf(2));
        chain.Store(1).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(1, chain.Network.Count<FetchRequest>(Samples.Id(1)));
        AssertSameLogs(chain, members: 3);
    }, options: s_relay);

    [Fact]
    public void Records_that_a_successor_is_asked_for_go_whole() => TestChain.Run(async chain =>
    {
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.DelayAsync(100);
        await chain.KillAsync(3);
        chain.Network.Heal();
        await chain.StartAsync(3);
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(0, chain.Network.Count<FetchRequest>(Samples.Id(2)));
        AssertSameLogs(chain, members: 3);
    }, options: s_relay);

    [Fact]
    public void Requests_that_wait_for_a_value_end_with_the_epoch() => TestChain.Run(async chain =>
    {
        chain.Network.Drops = (_, to, request) =>
            (request is ValuesRequest && to == Samples.Id(2)) || request is FetchRequest;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.DelayAsync(200);
        Assert.True(chain.LastOf(2) < chain.LastOf(1));
        chain.Change(new ChainChange.Renew());
        await chain.OpenedAsync();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(s_large, await chain.GetAsync(3, "x"));
        AssertSameLogs(chain, members: 3);
    }, options: s_relay);

    [Fact]
    public void Requests_beyond_the_window_of_waiting_ones_are_refused() => TestChain.Run(async chain =>
    {
        chain.Network.Drops = (_, to, request) =>
            (request is ValuesRequest && to == Samples.Id(2)) || request is FetchRequest;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", s_large)));
        await chain.UntilAsync(() => chain.LastOf(1).Counter == 2);
        await chain.DelayAsync(50);
        var record = RecordCodec.Encode(new ChainRecord(chain.Id, ChainRecordKind.Write, chain.LastOf(1).Next(),
            chain.LastOf(1), [], [new ObjectWrite("y", 0, 0, new byte[5000])]));
        var answer = await chain.CallAsync(2, new ReplicateRequest(chain.Config.Epoch, chain.Id, chain.LastOf(1),
            ObjectVersion.None, [record]));
        Assert.Equal(Status.Overloaded, answer.Status);
        chain.Network.Drops = null;
        Assert.Equal(Status.Ok, (await write).Status);
    }, options: s_relay, node: new CraqNodeOptions { WindowBytes = 4000 });

    [Fact]
    public void Values_of_another_epoch_or_damaged_ones_are_refused() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var epoch = chain.Config.Epoch;
        var record = RecordCodec.Encode(new ChainRecord(chain.Id, ChainRecordKind.Write, chain.LastOf(2).Next(),
            chain.LastOf(2), [], [new ObjectWrite("y", 0, 0, new byte[100])]));
        Assert.Equal(Status.Ok, await ValuesAsync(epoch, record));
        Assert.Equal(Status.Sealed, await ValuesAsync(new Epoch(epoch.Value - 1), record));
        Assert.Equal(Status.NotInstalled, await ValuesAsync(new Epoch(epoch.Value + 1), record));
        Assert.Equal(Status.BadRequest,
            await ValuesAsync(epoch, record[..RecordCodec.HeadsLengthOf(record)]));
        byte[] damaged = [.. record];
        damaged[^1] ^= 1;
        Assert.Equal(Status.BadRequest, await ValuesAsync(epoch, damaged));
        Assert.Equal(Status.NotInstalled, (await chain.CallAsync(2,
            new ValuesRequest(epoch, ChainId.FromName("other"), record))).Status);

        async Task<Status> ValuesAsync(Epoch of, byte[] bytes) =>
            (await chain.CallAsync(2, new ValuesRequest(of, chain.Id, bytes))).Status;
    }, options: s_relay);

    // All records of that version between members, as they travelled.
    private static IEnumerable<ReadOnlyMemory<byte>> Sent(TestChain chain, ObjectVersion version) =>
        chain.Network.Sent.Select(sent => sent.Request).OfType<ReplicateRequest>()
            .SelectMany(request => request.Records).Where(record => RecordCodec.VersionOf(record.Span) == version);

    private static Task AllHaveAsync(TestChain chain, ObjectVersion version, int members) => chain.UntilAsync(
        () => Enumerable.Range(1, members).All(node => chain.MarkOf(node) >= version));

    // C1, C2: the same bytes in every log.
    private static void AssertSameLogs(TestChain chain, int members)
    {
        var logs = Enumerable.Range(1, members).Select(node => chain.Store(node).Log
            .Where(record => record.Kind == StoreRecordKind.Chain)
            .Select(record => Convert.ToHexString(record.Body.Span)).ToArray()).ToArray();
        Assert.All(logs, log => Assert.Equal(logs[0], log));
    }
}
