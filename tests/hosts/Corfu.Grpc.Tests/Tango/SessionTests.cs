using Corfu.Grpc.Protocol.Tango.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using global::Grpc.Core;
using global::Tango.Collections;

namespace Corfu.Grpc.Tests.Tango;

public sealed class SessionTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(3);

    [Fact]
    public async Task Lock_of_a_caller_that_dies_goes_to_the_next_and_the_old_token_is_refused()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        var old = await first.OpenSessionAsync(Short, "old");
        await using var next = await second.OpenSessionAsync(Long, "next");
        var token = await AcquireAsync(first, old);
        Assert.NotNull(token);
        var holder = await second.Locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" });
        Assert.Equal((token, "old"), (holder.FencingToken, holder.Owner));
        Assert.Null(await AcquireAsync(second, next, TimeSpan.Zero));
        Assert.Null(await AcquireAsync(second, next, TimeSpan.FromMilliseconds(50)));
        Assert.True(await WriteAsync(first, token));

        var waiting = AcquireAsync(second, next, Front.Patience);
        await old.DisposeAsync();
        var later = await waiting;
        Assert.True(later > token);
        Assert.False(await WriteAsync(first, token));
        Assert.True(await WriteAsync(second, later));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Session_goes_on_after_a_broken_connection_or_a_stopped_front_end(bool stops)
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        await using var next = await second.OpenSessionAsync(Long);
        var session = await first.OpenSessionAsync(Long, "mine");
        var token = await AcquireAsync(first, session);
        await first.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        var received = await ReceiveAsync(first, session);
        var set = await first.LeasedDictionaries.SetAsync(
            Entry("node/1", new SetLeasedRequest { Session = session.Id }));
        var waiting = AcquireAsync(second, next, Front.Patience);
        await WaitForLineAsync(front, 2);

        var stopped = stops ? first.StopAsync() : Task.CompletedTask;
        if (stops)
        {
            var (code, reason) = await TangoFrontEnd.FailureOf(session.NextAsync);
            // The reason is lost when the connection closes before the caller has read its trailers. HTTP/2's code for
            // that close decides about the status, then.
            if (reason.StartsWith("no reason", StringComparison.Ordinal))
                Assert.True(code is StatusCode.Unavailable or StatusCode.Internal, reason);
            else Assert.Equal(StatusCode.Unavailable, code);
        }

        // The front end closes its connections when their callers have ended their streams too.
        await session.DisposeAsync();
        await stopped;
        var again = stops ? second : first;
        var gone = new Holding { Object = "mutex", FencingToken = token!.Value + 1000 };
        var missing = new Holding { Object = "missing", FencingToken = 1 };
        await using var later = await again.OpenSessionAsync(
            Long, "mine", new Holding { Object = "mutex", FencingToken = token.Value },
            new Holding { Object = "jobs", Delivery = received.Delivery },
            new Holding { Object = "nodes", Lease = set.Lease }, gone, missing);
        Assert.Equal([gone, missing], later.Lost);
        await later.RenewAsync();
        Assert.False(waiting.IsCompleted);
        Assert.True(await WriteAsync(second, token));
        await CompleteAsync(second, received.Delivery);
        // Entries of the session go on with the same lease.
        var more = await again.LeasedDictionaries.SetAsync(
            Entry("node/2", new SetLeasedRequest { Session = later.Id }));
        Assert.Equal(set.Lease, more.Lease);
        Assert.Equal(["node/1", "node/2"], await KeysAsync(second, ""));

        await later.EndAsync();
        Assert.True(await waiting > token);
        Assert.Empty(await KeysAsync(second, ""));
    }

    [Fact]
    public async Task Session_at_two_front_ends_holds_the_lock_while_either_lives()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        var old = await first.OpenSessionAsync(Long);
        var token = (await AcquireAsync(first, old))!.Value;
        await using var moved = await second.OpenSessionAsync(
            Long, "", new Holding { Object = "mutex", FencingToken = token });
        await old.RenewAsync();
        await moved.RenewAsync();
        // The front end notices late that the first connection is broken.
        await old.DisposeAsync();
        await Poll.UntilAsync(async () =>
        {
            try
            {
                await AcquireAsync(first, old, TimeSpan.Zero);
                return false;
            }
            catch (RpcException e) when (e.StatusCode == StatusCode.NotFound)
            {
                return true;
            }
        });
        await moved.RenewAsync();
        Assert.True(await WriteAsync(second, token));
    }

    [Fact]
    public async Task Only_keep_alives_renew_and_a_holding_that_ended_elsewhere_is_reported()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        await using var session = await first.OpenSessionAsync(Long);
        var token = (await AcquireAsync(first, session))!.Value;
        var before = (await front.Log.CheckAsync([])).Tail;
        await session.RenewAsync();
        Assert.True((await front.Log.CheckAsync([])).Tail > before);
        Assert.True((await second.Locks.ReleaseAsync(
            new ReleaseRequest { Object = "mutex", FencingToken = token })).Released);
        await session.KeepAliveAsync();
        Assert.Equal(new Holding { Object = "mutex", FencingToken = token }, (await session.NextAsync()).Lost);
        Assert.Equal(SessionEvent.EventOneofCase.KeptAlive, (await session.NextAsync()).EventCase);
        await session.RenewAsync();
    }

    [Fact]
    public async Task Lock_of_a_front_end_that_dies_is_free_after_the_time_to_live()
    {
        await using var front = new Front();
        var second = await StartAsync(front);
        var runtime = front.NewRuntime();
        var first = await TangoFrontEnd.StartAsync(runtime);
        await using var old = await first.OpenSessionAsync(Short);
        await using var next = await second.OpenSessionAsync(Long);
        var token = await AcquireAsync(first, old);
        // As killed: nothing is released.
        await runtime.DisposeAsync();
        Assert.True(await AcquireAsync(second, next, Front.Patience) > token);
        await first.DisposeAsync();
    }

    [Fact]
    public async Task A_silent_session_ends_and_one_that_is_kept_alive_goes_on()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var silent = await own.OpenSessionAsync(Short);
        await using var next = await own.OpenSessionAsync(Long);
        var token = await AcquireAsync(own, silent);
        Assert.True(await AcquireAsync(own, next, Front.Patience) > token);
        Assert.Equal((StatusCode.NotFound, "SESSION_NOT_FOUND"), await TangoFrontEnd.FailureOf(silent.NextAsync));
        Assert.Equal((StatusCode.NotFound, "SESSION_NOT_FOUND"),
            await TangoFrontEnd.FailureOf(() => AcquireAsync(own, silent)));
        await next.RenewAsync();
    }

    [Fact]
    public async Task Lock_is_released_once_and_ends_with_the_session()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var session = await own.OpenSessionAsync(Long);
        var request = new ReleaseRequest
        {
            Object = "mutex",
            FencingToken = (await AcquireAsync(own, session))!.Value,
        };
        Assert.True((await own.Locks.ReleaseAsync(request)).Released);
        Assert.False((await own.Locks.ReleaseAsync(request)).Released);
        var token = await AcquireAsync(own, session);
        Assert.True(token > request.FencingToken);
        // A released holding is not reported as lost.
        await session.RenewAsync();
        await session.EndAsync();
        Assert.False((await own.Locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" })).HasFencingToken);
    }

    [Fact]
    public async Task Work_is_completed_once_and_that_of_a_dead_consumer_is_delivered_again()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        foreach (var item in new[] { "a", "b" })
            await first.Queues.EnqueueAsync(
                new EnqueueRequest { Object = "jobs", Value = ByteString.CopyFromUtf8(item) });
        var dead = await first.OpenSessionAsync(Short);
        await using var alive = await second.OpenSessionAsync(Long);
        var lost = await ReceiveAsync(first, dead);
        Assert.Equal(("a", 1), (lost.Value.ToStringUtf8(), lost.Attempt));
        await dead.DisposeAsync();
        var (done, again) = (await ReceiveAsync(second, alive), await ReceiveAsync(second, alive));
        Assert.Equal(["a", "b"], new[] { done, again }.Select(one => one.Value.ToStringUtf8()).Order());
        var ofA = done.Delivery.Item == lost.Delivery.Item ? done : again;
        Assert.Equal(2, ofA.Attempt);
        Assert.Equal((StatusCode.FailedPrecondition, "REJECTED"),
            await TangoFrontEnd.FailureOf(() => CompleteAsync(first, lost.Delivery)));
        // Through whichever front end.
        await CompleteAsync(first, ofA.Delivery);
        Assert.Equal((StatusCode.FailedPrecondition, "REJECTED"),
            await TangoFrontEnd.FailureOf(() => CompleteAsync(second, ofA.Delivery)));

        var ofB = ofA == done ? again : done;
        var refused = await second.Transactions.TransactAsync(Complete(ofA.Delivery));
        Assert.Equal(Aborted.Types.Reason.Rejected, refused.Aborted.Reason);
        Assert.Equal(TransactResponse.OutcomeOneofCase.Committed,
            (await second.Transactions.TransactAsync(Complete(ofB.Delivery))).OutcomeCase);
        var none = await second.Queues.ReceiveAsync(
            new ReceiveRequest { Object = "jobs", Session = alive.Id, MaxWait = new Duration() });
        Assert.Null(none.Delivery);

        static TransactRequest Complete(Delivery delivery) =>
            new() { OnSuccess = { new Operation { Object = "jobs", Complete = delivery } } };
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Completed_delivery_is_neither_held_nor_lost(bool inTransaction)
    {
        await using var front = new Front();
        var own = await StartAsync(front, static options => options.Tango.MaxHeldPerSession = 1);
        await using var session = await own.OpenSessionAsync(Long);
        for (var i = 0; i < 3; i++)
        {
            await own.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
            var received = await ReceiveAsync(own, session);
            Assert.Equal(1, received.Attempt);
            if (!inTransaction) await CompleteAsync(own, received.Delivery);
            else
                Assert.NotNull((await own.Transactions.TransactAsync(new TransactRequest
                {
                    OnSuccess = { new Operation { Object = "jobs", Complete = received.Delivery } },
                })).Committed);
        }

        await session.RenewAsync();
    }

    [Fact]
    public async Task Receive_that_is_not_waited_for_any_more_leaves_the_line()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        var queue = await front.NewRuntime().OpenAsync<TangoWorkQueue<byte[]>>("jobs");
        await using var gone = await first.OpenSessionAsync(Long);
        await using var next = await second.OpenSessionAsync(Long);
        var none = await ReceiveAsync(first, gone, TimeSpan.FromMilliseconds(50));
        Assert.Null(none.Delivery);
        Assert.Equal(0, await queue.WaitingAsync());

        using var stop = new CancellationTokenSource();
        using var cancelled = first.Queues.ReceiveAsync(
            new ReceiveRequest { Object = "jobs", Session = gone.Id }, cancellationToken: stop.Token);
        await Poll.UntilAsync(async () => await queue.WaitingAsync() == 1);
        await stop.CancelAsync();
        await Assert.ThrowsAsync<RpcException>(() => cancelled.ResponseAsync);
        // Sooner than a place in line ends by itself.
        await Poll.UntilAsync(async () => await queue.WaitingAsync() == 0);
        await second.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        Assert.Equal(1, (await ReceiveAsync(second, next)).Attempt);
    }

    [Fact]
    public async Task An_item_that_is_abandoned_is_delivered_again()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var session = await own.OpenSessionAsync(Long);
        await own.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        var first = await ReceiveAsync(own, session);
        var request = new AbandonRequest { Object = "jobs", Delivery = first.Delivery };
        Assert.True((await own.Queues.AbandonAsync(request)).Abandoned);
        Assert.False((await own.Queues.AbandonAsync(request)).Abandoned);
        var second = await ReceiveAsync(own, session);
        Assert.Equal(2, second.Attempt);
        Assert.True(second.Delivery.Token > first.Delivery.Token);
    }

    [Fact]
    public async Task Leased_entries_end_with_the_session_or_the_time_to_live()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var session = await own.OpenSessionAsync(Long);
        await own.LeasedDictionaries.SetAsync(Entry("node/1", new SetLeasedRequest { Session = session.Id }));
        await own.LeasedDictionaries.SetAsync(Entry("node/2", new SetLeasedRequest { Session = session.Id }));
        await own.LeasedDictionaries.SetAsync(
            Entry("brief", new SetLeasedRequest { TimeToLive = Duration.FromTimeSpan(Short) }));
        Assert.Equal(["brief", "node/1", "node/2"], await KeysAsync(own, ""));
        Assert.Equal(["node/1", "node/2"], await KeysAsync(own, "node/"));
        Assert.True((await own.LeasedDictionaries.RemoveAsync(
            new RemoveLeasedRequest { Object = "nodes", Key = "node/2" })).Removed);
        await Poll.UntilAsync(async () => (await KeysAsync(own, "")).SequenceEqual(["node/1"]));
        await session.EndAsync();
        Assert.False((await own.LeasedDictionaries.GetAsync(
            new GetLeasedRequest { Object = "nodes", Key = "node/1" })).HasValue);
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"), await TangoFrontEnd.FailureOf(
            async () => await own.LeasedDictionaries.SetAsync(Entry("x", new SetLeasedRequest()))));
        Assert.Equal((StatusCode.NotFound, "SESSION_NOT_FOUND"), await TangoFrontEnd.FailureOf(async () =>
            await own.LeasedDictionaries.SetAsync(Entry("x", new SetLeasedRequest { Session = session.Id }))));
    }

    [Fact]
    public async Task Sessions_have_limits_and_refuse_malformed_requests()
    {
        await using var front = new Front();
        var own = await StartAsync(front, static options =>
            (options.Tango.MaxSessions, options.Tango.MaxHeldPerSession) = (1, 1));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await TangoFrontEnd.FailureOf(() => own.OpenSessionAsync(TimeSpan.FromMilliseconds(1))));
        await using var session = await own.OpenSessionAsync(Long);
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => own.OpenSessionAsync(Long)));
        Assert.NotNull(await AcquireAsync(own, session));
        await own.CreateAsync("other", ObjectType.Lock);
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => AcquireAsync(own, session, name: "other")));
        // A lock above the limit is free again, and an item above it was not delivered.
        Assert.False((await own.Locks.GetHolderAsync(new GetHolderRequest { Object = "other" })).HasFencingToken);
        await own.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => ReceiveAsync(own, session)));
        await session.EndAsync();
        await using var next = await own.OpenSessionAsync(Long);
        Assert.Equal(1, (await ReceiveAsync(own, next)).Attempt);
    }

    private static async Task<TangoFrontEnd> StartAsync(Front front, Action<CorfuGrpcOptions>? configure = null)
    {
        var own = await front.StartAsync(configure);
        await own.CreateAsync("mutex", ObjectType.Lock);
        await own.CreateAsync("jobs", ObjectType.WorkQueue);
        await own.CreateAsync("nodes", ObjectType.LeasedDictionary);
        await own.CreateAsync("ledger", ObjectType.Dictionary);
        return own;
    }

    private static async Task<long?> AcquireAsync(
        TangoFrontEnd own, CallerSession session, TimeSpan? maxWait = null, string name = "mutex")
    {
        var request = new AcquireRequest { Object = name, Session = session.Id };
        if (maxWait is { } wait) request.MaxWait = Duration.FromTimeSpan(wait);
        var response = await own.Locks.AcquireAsync(request);
        return response.HasFencingToken ? response.FencingToken : null;
    }

    /// <summary>Until so many have the lock or wait for it.</summary>
    private static async Task WaitForLineAsync(Front front, int count)
    {
        var mutex = await front.NewRuntime().OpenAsync<TangoLock>("mutex");
        await Poll.UntilAsync(async () => await mutex.CountAsync() == count);
    }

    /// <summary>A write that the lock guards.</summary>
    private static async Task<bool> WriteAsync(TangoFrontEnd own, long? token)
    {
        var outcome = await own.Transactions.TransactAsync(new TransactRequest
        {
            Compare = { new Compare { Object = "mutex", LockHeld = token!.Value } },
            OnSuccess = { new Operation { Object = "ledger", Set = new SetOperation { Key = "last" } } },
        });
        Assert.True(outcome.OutcomeCase == TransactResponse.OutcomeOneofCase.Committed, outcome.ToString());
        return outcome.Committed.Succeeded;
    }

    private static async Task<ReceiveResponse> ReceiveAsync(
        TangoFrontEnd own, CallerSession session, TimeSpan? maxWait = null) =>
        await own.Queues.ReceiveAsync(new ReceiveRequest
        {
            Object = "jobs",
            Session = session.Id,
            MaxWait = Duration.FromTimeSpan(maxWait ?? Front.Patience),
        });

    private static async Task CompleteAsync(TangoFrontEnd own, Delivery delivery) =>
        await own.Queues.CompleteAsync(new CompleteRequest { Object = "jobs", Delivery = delivery });

    private static SetLeasedRequest Entry(string key, SetLeasedRequest request)
    {
        (request.Object, request.Key, request.Value) = ("nodes", key, ByteString.CopyFromUtf8(key));
        return request;
    }

    private static async Task<List<string>> KeysAsync(TangoFrontEnd own, string prefix)
    {
        var list = await own.LeasedDictionaries.ListAsync(
            new ListLeasedRequest { Object = "nodes", Prefix = prefix });
        return [.. list.Entries.Select(entry => entry.Key)];
    }
}
