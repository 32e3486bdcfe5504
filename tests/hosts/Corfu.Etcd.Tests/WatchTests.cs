namespace Corfu.Etcd.Tests;

/// <summary>Watches of a stream.</summary>
public sealed class WatchTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Watch_tells_each_change_once_in_order_with_the_value_before()
    {
        var (client, other) = (await _world.StartAsync(), await _world.StartAsync());
        await client.PutAsync("a", "0");
        using var stream = new Stream(client);
        var created = await stream.CreateAsync(new WatchCreateRequest
        {
            Key = Bytes("a"),
            RangeEnd = Bytes("c"),
            PrevKv = true,
        });
        Assert.Equal((0, 2), (created.WatchId, created.Header.Revision));
        await other.PutAsync("a", "1");
        await client.Keys.TxnAsync(Txn(Op(Put("b", "2")), Op(Delete("a")), Op(Put("z", "0"))));
        await other.PutAsync("z", "1");
        await other.PutAsync("b", "3");
        Assert.Equal("3:a=1(0)", Text(await stream.NextAsync()));
        Assert.Equal("4:b=2,a-(1)", Text(await stream.NextAsync()));
        Assert.Equal("6:b=3(2)", Text(await stream.NextAsync()));
    }

    [Fact]
    public async Task Watch_from_the_past_goes_on_at_another_front_end()
    {
        var (client, other) = (await _world.StartAsync(), await _world.StartAsync());
        for (var i = 0; i < 4; i++) await client.PutAsync("a", $"{i}");
        using (var stream = new Stream(client))
        {
            await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 2 });
            Assert.Equal("2:a=0", Text(await stream.NextAsync()));
            Assert.Equal("3:a=1", Text(await stream.NextAsync()));
        }

        using var next = new Stream(other);
        await next.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 4 });
        Assert.Equal("4:a=2", Text(await next.NextAsync()));
        Assert.Equal("5:a=3", Text(await next.NextAsync()));
    }

    [Fact]
    public async Task Filters_leave_out_puts_or_deletions()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest
        {
            Key = Bytes("a"),
            Filters = { WatchCreateRequest.Types.FilterType.Noput },
        });
        await stream.CreateAsync(new WatchCreateRequest
        {
            Key = Bytes("b"),
            Filters = { WatchCreateRequest.Types.FilterType.Nodelete },
        });
        await client.PutAsync("a", "1");
        await client.Keys.DeleteRangeAsync(Delete("a"));
        await client.PutAsync("b", "1");
        await client.Keys.DeleteRangeAsync(Delete("b"));
        await client.PutAsync("b", "2");
        var told = new[] { await stream.NextAsync(), await stream.NextAsync(), await stream.NextAsync() };
        Assert.Equal(["0 3:a-", "1 4:b=1", "1 6:b=2"], told.Select(static one => $"{one.WatchId} {Text(one)}").Order());
    }

    [Fact]
    public async Task Ids_are_the_clients_or_the_next_ones_and_a_cancelled_watch_is_silent()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        Assert.Equal(5, (await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), WatchId = 5 })).WatchId);
        Assert.Equal(0, (await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") })).WatchId);
        var again = await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), WatchId = 5 });
        Assert.Equal((-1, true, "mvcc: duplicate watch ID provided on the WatchStream"),
            (again.WatchId, again.Canceled, again.CancelReason));
        var empty = await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("b"), RangeEnd = Bytes("a") });
        Assert.Equal((-1, true, "mvcc: watcher range is empty"), (empty.WatchId, empty.Canceled, empty.CancelReason));
        await stream.SendAsync(new WatchRequest { CancelRequest = new WatchCancelRequest { WatchId = 5 } });
        var cancelled = await stream.NextAsync();
        Assert.Equal((5, true), (cancelled.WatchId, cancelled.Canceled));
        // Neither an id that is free nor one that never was is told anything.
        await stream.SendAsync(new WatchRequest { CancelRequest = new WatchCancelRequest { WatchId = 5 } });
        await client.PutAsync("a", "1");
        var told = await stream.NextAsync();
        Assert.Equal((0, "2:a=1"), (told.WatchId, Text(told)));
    }

    [Fact]
    public async Task Watch_of_compacted_revisions_ends_and_says_where_to_begin()
    {
        var client = await _world.StartAsync();
        for (var i = 0; i < 4; i++) await client.PutAsync("a", $"{i}");
        await client.Keys.CompactAsync(new CompactionRequest { Revision = 4 });
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 2 });
        var ended = await stream.NextAsync();
        Assert.Equal((0, true, 4, 0),
            (ended.WatchId, ended.Canceled, ended.CompactRevision, ended.Header.Revision));
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = ended.CompactRevision });
        Assert.Equal("4:a=2", Text(await stream.NextAsync()));
    }

    [Fact]
    public async Task Progress_is_told_behind_all_events_up_to_the_revision()
    {
        var (client, other) = (await _world.StartAsync(), await _world.StartAsync());
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("quiet") });
        // A watch that begins later holds nothing up.
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 100 });
        await other.PutAsync("a", "1");
        await other.PutAsync("b", "1");
        await stream.SendAsync(new WatchRequest { ProgressRequest = new WatchProgressRequest() });
        Assert.Equal("2:a=1", Text(await stream.NextAsync()));
        var progress = await stream.NextAsync();
        Assert.Equal((-1, 3, 0), (progress.WatchId, progress.Header.Revision, progress.Events.Count));
    }

    [Fact]
    public async Task Large_answer_comes_in_parts_to_a_watch_that_takes_parts()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), RangeEnd = Bytes("b"), Fragment = true });
        var large = new string('x', 300 << 10);
        await client.Keys.TxnAsync(Txn([.. Enumerable.Range(0, 4).Select(i => Op(Put($"a{i}", large)))]));
        var parts = new List<WatchResponse> { await stream.NextAsync() };
        while (parts[^1].Fragment) parts.Add(await stream.NextAsync());
        Assert.Equal(2, parts.Count);
        Assert.Equal(["a0", "a1", "a2", "a3"],
            parts.SelectMany(static part => part.Events).Select(static one => one.Kv.Key.ToStringUtf8()));
    }

    /// <summary>Go's clients throw away the answers of other watches that stand between parts.</summary>
    [Fact]
    public async Task Parts_of_an_answer_follow_each_other()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        for (var i = 0; i < 4; i++)
            await stream.CreateAsync(
                new WatchCreateRequest { Key = Bytes("a"), RangeEnd = Bytes("b"), Fragment = true });
        var large = new string('x', 300 << 10);
        await client.Keys.TxnAsync(Txn([.. Enumerable.Range(0, 4).Select(i => Op(Put($"a{i}", large)))]));
        for (var i = 0; i < 4; i++)
        {
            var part = await stream.NextAsync();
            Assert.True(part.Fragment);
            var last = await stream.NextAsync();
            Assert.Equal((part.WatchId, false), (last.WatchId, last.Fragment));
        }
    }

    /// <summary>A step of the watch was under way, and the whole stream ended with it.</summary>
    [Fact]
    public async Task Watch_cancelled_while_the_client_does_not_read_ends_alone()
    {
        var client = await _world.StartAsync();
        var large = new string('x', 60 << 10);
        for (var i = 0; i < 200; i++) await client.PutAsync("a", large);
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 2 });
        await stream.SendAsync(new WatchRequest { CancelRequest = new WatchCancelRequest { WatchId = 0 } });
        await stream.SendAsync(new WatchRequest { CreateRequest = new WatchCreateRequest { Key = Bytes("b") } });
        WatchResponse answer;
        do answer = await stream.NextAsync();
        while (!answer.Canceled);
        answer = await stream.NextAsync();
        Assert.Equal((1, true), (answer.WatchId, answer.Created));
        await client.PutAsync("b", "1");
        Assert.Equal("202:b=1", Text(await stream.NextAsync()));
    }

    [Fact]
    public async Task Stream_has_no_more_watches_than_allowed()
    {
        var client = await _world.StartAsync(new EtcdLimits { MaxWatchesPerStream = 1 });
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        var refused = await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        Assert.Equal((true, "etcdserver: too many watches"), (refused.Canceled, refused.CancelReason));
    }

    [Fact]
    public async Task Client_without_further_requests_still_hears_the_watches()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        await stream.CompleteAsync();
        await client.PutAsync("a", "1");
        Assert.Equal("2:a=1", Text(await stream.NextAsync()));
    }

    [Fact]
    public async Task Front_end_that_stops_ends_the_streams()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        var next = stream.NextAsync();
        await client.StopAsync();
        // The client reads the status, or meets the end of the connection before. After "no leader" Go's clients end
        // the watch; after both others they go on at another front end.
        var failure = await Assert.ThrowsAsync<RpcException>(() => next);
        Assert.DoesNotContain("no leader", failure.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Watch_that_runs_hears_changes_that_a_compaction_follows_at_once()
    {
        var (client, other) = (await _world.StartAsync(), await _world.StartAsync());
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), PrevKv = true });
        for (var i = 0; i < 100; i++)
        {
            await other.PutAsync("a", $"{i}");
            await other.PutAsync("a", $"{i}+");
            await other.Keys.CompactAsync(new CompactionRequest { Revision = (2 * i) + 3 });
        }

        for (var i = 0; i < 100; i++)
        {
            var before = i == 0 ? "" : $"({i - 1}+)";
            Assert.Equal($"{(2 * i) + 2}:a={i}{before}", Text(await stream.NextAsync()));
            Assert.Equal($"{(2 * i) + 3}:a={i}+({i})", Text(await stream.NextAsync()));
        }
    }

    [Fact]
    public async Task Requests_for_progress_are_answered_one_by_one()
    {
        var client = await _world.StartAsync();
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a") });
        var asking = AskAsync();
        for (var i = 0; i < 200; i++)
        {
            var told = await stream.NextAsync();
            Assert.Equal((-1, false), (told.WatchId, told.Created));
        }

        await asking;
        var created = await stream.NextAsync();
        Assert.Equal((1, true), (created.WatchId, created.Created));

        async Task AskAsync()
        {
            for (var i = 0; i < 200; i++)
                await stream.SendAsync(new WatchRequest { ProgressRequest = new WatchProgressRequest() });
            await stream.SendAsync(new WatchRequest { CreateRequest = new WatchCreateRequest { Key = Bytes("b") } });
        }
    }

    [Fact]
    public async Task Watch_that_catches_up_tells_many_revisions_in_one_answer()
    {
        var client = await _world.StartAsync();
        for (var i = 0; i < 20; i++) await client.PutAsync("a", $"{i}");
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), StartRevision = 2 });
        var answer = await stream.AnswerAsync();
        Assert.Equal(21, answer.Header.Revision);
        Assert.Equal(Enumerable.Range(0, 20).Select(static i => $"{i}"),
            answer.Events.Select(static one => one.Kv.Value.ToStringUtf8()));
    }

    /// <summary>An event of a lower revision than a notice could come behind it.</summary>
    [Fact]
    public async Task Notice_comes_behind_all_events_up_to_the_revision()
    {
        var client = await _world.StartAsync(new EtcdLimits { ProgressEvery = TimeSpan.FromTicks(10_000) });
        using var stream = new Stream(client);
        await stream.CreateAsync(new WatchCreateRequest { Key = Bytes("a"), ProgressNotify = true });
        var writing = WriteAsync();
        var (told, noticed) = (1L, 1L);
        // Each third revision is of another key: only a notice has the last one.
        while (noticed < 151)
        {
            var answer = await stream.NextAsync();
            Assert.Equal(0, answer.WatchId);
            if (answer.Events.Count == 0) noticed = answer.Header.Revision;
            foreach (var one in answer.Events)
            {
                Assert.True(one.Kv.ModRevision > noticed);
                Assert.Equal(told % 3 == 0 ? told + 2 : told + 1, told = one.Kv.ModRevision);
            }
        }

        await writing;

        async Task WriteAsync()
        {
            for (var i = 2; i <= 151; i++) await client.PutAsync(i % 3 == 1 ? "b" : "a", $"{i}");
        }
    }

    /// <summary>An answer of several revisions comes as several.</summary>
    private sealed class Stream(EtcdClient client) : IDisposable
    {
        private readonly AsyncDuplexStreamingCall<WatchRequest, WatchResponse> _call = client.Watches.Watch();
        private readonly Queue<WatchResponse> _parts = [];

        public Task SendAsync(WatchRequest request) => _call.RequestStream.WriteAsync(request);

        public async Task<WatchResponse> CreateAsync(WatchCreateRequest request)
        {
            await SendAsync(new WatchRequest { CreateRequest = request });
            var created = await NextAsync();
            Assert.True(created.Created);
            return created;
        }

        public async Task<WatchResponse> NextAsync()
        {
            if (_parts.TryDequeue(out var part)) return part;
            var answer = await AnswerAsync();
            foreach (var group in answer.Events.GroupBy(static one => one.Kv.ModRevision).Skip(1))
            {
                part = answer.Clone();
                part.Events.Clear();
                part.Events.AddRange(group);
                part.Header.Revision = group.Key;
                _parts.Enqueue(part);
            }

            if (_parts.Count == 0) return answer;
            var first = answer.Events[0].Kv.ModRevision;
            answer.Header.Revision = first;
            while (answer.Events[^1].Kv.ModRevision != first) answer.Events.RemoveAt(answer.Events.Count - 1);
            return answer;
        }

        public async Task<WatchResponse> AnswerAsync()
        {
            Assert.True(await _call.ResponseStream.MoveNext(CancellationToken.None));
            return _call.ResponseStream.Current;
        }

        public Task CompleteAsync() => _call.RequestStream.CompleteAsync();

        public void Dispose() => _call.Dispose();
    }
}
