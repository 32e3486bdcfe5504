namespace Corfu.Etcd.Tests;

/// <summary>Reads, writes and transactions of keys, and the errors that clients compare.</summary>
public sealed class KeyTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Write_through_one_front_end_is_read_through_another_with_equal_revisions()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        Assert.Equal(2, await one.PutAsync("a", "1"));
        Assert.Equal(3, await two.PutAsync("a", "2"));
        var found = await one.Keys.RangeAsync(Range("a"));
        var pair = Assert.Single(found.Kvs);
        Assert.Equal(("a=2", 2, 3, 2), (Text(pair), pair.CreateRevision, pair.ModRevision, pair.Version));
        Assert.Equal((3, 7UL), (found.Header.Revision, found.Header.RaftTerm));
        Assert.Equal("a=1", Text(await two.Keys.RangeAsync(new RangeRequest { Key = Bytes("a"), Revision = 2 })));
        var other = await two.Keys.RangeAsync(Range("a"));
        Assert.Equal(found.Header.ClusterId, other.Header.ClusterId);
        Assert.NotEqual(found.Header.MemberId, other.Header.MemberId);
    }

    [Fact]
    public async Task Put_and_delete_answer_with_the_entries_before()
    {
        var client = await _world.StartAsync();
        var first = Put("a", "1");
        first.PrevKv = true;
        Assert.Null((await client.Keys.PutAsync(first)).PrevKv);
        Assert.Equal("a=1", Text((await client.Keys.PutAsync(first)).PrevKv));
        await client.PutAsync("b", "2");
        var delete = Delete("a", Open);
        delete.PrevKv = true;
        var deleted = await client.Keys.DeleteRangeAsync(delete);
        Assert.Equal((2, 5), (deleted.Deleted, deleted.Header.Revision));
        Assert.Equal(["a=1", "b=2"], deleted.PrevKvs.Select(Text));
        Assert.Equal(5, (await client.Keys.DeleteRangeAsync(Delete("a"))).Header.Revision);
    }

    [Fact]
    public async Task Range_is_filtered_ordered_and_cut_as_asked()
    {
        var client = await _world.StartAsync();
        foreach (var pair in (string[])["c1", "a3", "b2", "a4"]) await client.PutAsync(pair[..1], pair[1..]);
        Assert.Equal("a=4 b=2 c=1", await client.GetAsync("a", "d"));
        Assert.Equal("b=2 c=1", await client.GetAsync("b", Open));
        Assert.Equal("a=4 b=2", await client.GetAsync("\0", "c"));
        Assert.Equal("", await client.GetAsync("c", "b"));

        async Task<RangeResponse> FindAsync(Action<RangeRequest> choose)
        {
            var request = Range("a", Open);
            choose(request);
            return await client.Keys.RangeAsync(request);
        }

        var cut = await FindAsync(static r => r.Limit = 2);
        Assert.Equal(("a=4 b=2", true, 3), (Text(cut), cut.More, cut.Count));
        var down = await FindAsync(static r => (r.SortOrder, r.Limit) = (RangeRequest.Types.SortOrder.Descend, 1));
        Assert.Equal(("c=1", true, 3), (Text(down), down.More, down.Count));
        // Without an order, another target than the key is ascending.
        Assert.Equal("c=1 b=2 a=4", Text(await FindAsync(
            static r => r.SortTarget = RangeRequest.Types.SortTarget.Mod)));
        Assert.Equal("c= b= a=", Text(await FindAsync(
            static r => (r.SortTarget, r.KeysOnly) = (RangeRequest.Types.SortTarget.Value, true))));
        Assert.Equal("b=2 c=1 a=4", Text(await FindAsync(
            static r => r.SortTarget = RangeRequest.Types.SortTarget.Version)));
        Assert.Equal("a=4", Text(await FindAsync(static r => r.MinModRevision = 5)));
        Assert.Equal("b=2 c=1", Text(await FindAsync(static r => r.MaxModRevision = 4)));
        Assert.Equal("a=4 b=2", Text(await FindAsync(static r => r.MinCreateRevision = 3)));
        var filtered = await FindAsync(static r => r.MaxCreateRevision = 2);
        Assert.Equal(("c=1", 3), (Text(filtered), filtered.Count));
        var counted = await FindAsync(static r => (r.CountOnly, r.Limit) = (true, 1));
        Assert.Equal((0, 3, false), (counted.Kvs.Count, counted.Count, counted.More));
    }

    [Fact]
    public async Task Serializable_read_answers_from_the_state_of_the_front_end()
    {
        var client = await _world.StartAsync();
        await client.PutAsync("a", "1");
        var request = Range("a");
        request.Serializable = true;
        Assert.Equal("a=1", Text(await client.Keys.RangeAsync(request)));
    }

    [Fact]
    public async Task Transaction_decides_once_and_each_operation_tells_the_revision_seen()
    {
        var client = await _world.StartAsync();
        await client.PutAsync("a", "1");
        var txn = Txn(Op(Range("a")), Op(Put("b", "2")), Op(Range("b")), Op(Delete("zzz")),
            Op(new TxnRequest
            {
                Compare = { new Compare { Key = Bytes("b"), Version = 1 } },
                Success = { Op(Put("c", "no")) },
                Failure = { Op(Delete("a")) },
            }));
        txn.Compare.Add(new Compare
        {
            Key = Bytes("a"),
            Target = Compare.Types.CompareTarget.Value,
            Value = Bytes("1"),
        });
        txn.Failure.Add(Op(Put("a", "never")));
        var answer = await client.Keys.TxnAsync(txn);
        Assert.Equal((true, 3), (answer.Succeeded, answer.Header.Revision));
        Assert.Equal((2, "a=1"),
            (answer.Responses[0].ResponseRange.Header.Revision, Text(answer.Responses[0].ResponseRange)));
        Assert.Equal(3, answer.Responses[1].ResponsePut.Header.Revision);
        Assert.Equal((3, "b=2"),
            (answer.Responses[2].ResponseRange.Header.Revision, Text(answer.Responses[2].ResponseRange)));
        Assert.Equal((3, 0), (answer.Responses[3].ResponseDeleteRange.Header.Revision,
            answer.Responses[3].ResponseDeleteRange.Deleted));
        // Conditions are of the state before: b is absent, and the nested transaction deletes.
        var nested = answer.Responses[4].ResponseTxn;
        Assert.Equal((false, 0, 1), (nested.Succeeded, nested.Header.Revision,
            nested.Responses[0].ResponseDeleteRange.Deleted));
        Assert.Equal("b=2", await client.GetAsync("a", Open));
        Assert.False((await client.Keys.TxnAsync(txn)).Succeeded);
    }

    [Fact]
    public async Task Compare_of_a_range_holds_if_every_key_fulfils_the_relation()
    {
        var client = await _world.StartAsync();
        await client.PutAsync("a", "1");
        await client.PutAsync("b", "2");
        async Task<bool> HoldsAsync(Compare compare) =>
            (await client.Keys.TxnAsync(new TxnRequest { Compare = { compare } })).Succeeded;
        Compare Of(Compare.Types.CompareTarget target) =>
            new() { Key = Bytes("a"), RangeEnd = Bytes("c"), Target = target };
        var modified = Of(Compare.Types.CompareTarget.Mod);
        (modified.Result, modified.ModRevision) = (Compare.Types.CompareResult.Less, 4);
        Assert.True(await HoldsAsync(modified));
        modified.ModRevision = 3;
        Assert.False(await HoldsAsync(modified));
        var value = Of(Compare.Types.CompareTarget.Value);
        (value.Result, value.Value) = (Compare.Types.CompareResult.NotEqual, Bytes("3"));
        Assert.True(await HoldsAsync(value));
        // No value is equal to that of a key that is absent, and none differs from it.
        value.Key = Bytes("x");
        value.RangeEnd = ByteString.Empty;
        Assert.False(await HoldsAsync(value));
        var lease = Of(Compare.Types.CompareTarget.Lease);
        Assert.True(await HoldsAsync(lease));
        var created = new Compare { Key = Bytes("x"), Target = Compare.Types.CompareTarget.Create };
        Assert.True(await HoldsAsync(created));
    }

    [Fact]
    public async Task Refusals_have_the_codes_and_texts_of_etcd_and_change_no_key()
    {
        var client = await _world.StartAsync(new EtcdLimits { MaxRequestBytes = 64 << 10 });
        await client.PutAsync("a", "1");
        var keys = client.Keys;
        var invalid = StatusCode.InvalidArgument;
        Assert.Equal((invalid, "etcdserver: key is not provided"), await FailureOf(keys.PutAsync(Put("", "1"))));
        Assert.Equal((invalid, "etcdserver: key is not provided"), await FailureOf(keys.RangeAsync(Range(""))));
        Assert.Equal((invalid, "etcdserver: key is not provided"), await FailureOf(keys.DeleteRangeAsync(Delete(""))));
        Assert.Equal((invalid, "etcdserver: value is provided"), await FailureOf(
            keys.PutAsync(new PutRequest { Key = Bytes("a"), Value = Bytes("2"), IgnoreValue = true })));
        Assert.Equal((invalid, "etcdserver: lease is provided"), await FailureOf(
            keys.PutAsync(new PutRequest { Key = Bytes("a"), Lease = 1, IgnoreLease = true })));
        Assert.Equal((invalid, "etcdserver: key not found"), await FailureOf(
            keys.PutAsync(new PutRequest { Key = Bytes("b"), IgnoreValue = true })));
        Assert.Equal((StatusCode.NotFound, "etcdserver: requested lease not found"),
            await FailureOf(keys.PutAsync(Put("a", "2", lease: 99))));
        Assert.Equal((StatusCode.NotFound, "etcdserver: requested lease not found"),
            await FailureOf(keys.PutAsync(Put("a", "2", lease: -1))));
        Assert.Equal((invalid, "etcdserver: duplicate key given in txn request"),
            await FailureOf(keys.TxnAsync(Txn(Op(Put("a", "2")), Op(Put("a", "3"))))));
        Assert.Equal((invalid, "etcdserver: duplicate key given in txn request"),
            await FailureOf(keys.TxnAsync(Txn(Op(Put("a", "2")), Op(Delete("a", "b"))))));
        Assert.Equal((invalid, "etcdserver: key not found"), await FailureOf(keys.TxnAsync(Txn(new RequestOp()))));
        Assert.Equal((invalid, "etcdserver: request is too large"),
            await FailureOf(keys.PutAsync(Put("a", new string('x', 80 << 10)))));
        Assert.Equal((StatusCode.OutOfRange, "etcdserver: mvcc: required revision is a future revision"),
            await FailureOf(keys.RangeAsync(new RangeRequest { Key = Bytes("a"), Revision = 9 })));
        Assert.Equal((StatusCode.OutOfRange, "etcdserver: mvcc: required revision is a future revision"),
            await FailureOf(keys.CompactAsync(new CompactionRequest { Revision = 9 })));
        var found = await keys.RangeAsync(Range("a", Open));
        Assert.Equal(("a=1", 2), (Text(found), found.Header.Revision));
    }

    [Fact]
    public async Task Transaction_has_128_operations_of_nested_levels_together()
    {
        var client = await _world.StartAsync();
        RequestOp[] Puts(int count) => [.. Enumerable.Range(0, count).Select(static i => Op(Put($"k{i}", "1")))];
        Assert.Equal(128, (await client.Keys.TxnAsync(Txn(Puts(128)))).Responses.Count);
        var failure = (StatusCode.InvalidArgument, "etcdserver: too many operations in txn request");
        Assert.Equal(failure, await FailureOf(client.Keys.TxnAsync(Txn(Puts(129)))));
        Assert.Single((await client.Keys.TxnAsync(Txn(Op(Txn(Puts(127)))))).Responses);
        Assert.Equal(failure, await FailureOf(client.Keys.TxnAsync(Txn(Op(Txn(Puts(128)))))));
    }

    [Fact]
    public async Task Compacted_revisions_are_refused_and_the_newest_keys_stay()
    {
        var client = await _world.StartAsync();
        for (var i = 0; i < 5; i++) await client.PutAsync("a", $"{i}");
        var failure = (StatusCode.OutOfRange, "etcdserver: mvcc: required revision has been compacted");
        var answer = await client.Keys.CompactAsync(new CompactionRequest { Revision = 4, Physical = true });
        Assert.Equal(6, answer.Header.Revision);
        Assert.Equal(failure, await FailureOf(client.Keys.CompactAsync(new CompactionRequest { Revision = 4 })));
        Assert.Equal(failure, await FailureOf(client.Keys.CompactAsync(new CompactionRequest { Revision = 2 })));
        Assert.Equal(failure, await FailureOf(
            client.Keys.RangeAsync(new RangeRequest { Key = Bytes("a"), Revision = 3 })));
        Assert.Equal("a=2", Text(await client.Keys.RangeAsync(new RangeRequest { Key = Bytes("a"), Revision = 4 })));
        Assert.Equal("a=4", await client.GetAsync("a"));
    }

    [Theory]
    [InlineData("Mod", "None", "p/b=2")]
    [InlineData("Mod", "Ascend", "p/c=1")]
    [InlineData("Value", "None", "p/b=2")]
    [InlineData("Value", "Descend", "p/a=3")]
    [InlineData("Key", "None", "p/a=3")]
    public async Task Limit_with_a_target_and_no_order_takes_the_first_keys_and_one_more(
        string target, string order, string expected)
    {
        var client = await _world.StartAsync();
        await client.PutAsync("p/c", "1");
        await client.PutAsync("p/b", "2");
        await client.PutAsync("p/a", "3");
        var found = await client.Keys.RangeAsync(new RangeRequest
        {
            Key = Bytes("p/"),
            RangeEnd = Bytes("p0"),
            SortTarget = Enum.Parse<RangeRequest.Types.SortTarget>(target),
            SortOrder = Enum.Parse<RangeRequest.Types.SortOrder>(order),
            Limit = 1,
        });
        Assert.Equal((expected, 3, true), (Text(found), found.Count, found.More));
    }
}
