using Corfu.Grpc.Protocol.Tango.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using global::Grpc.Core;

namespace Corfu.Grpc.Tests.Tango;

public sealed class SessionTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(400);

    [Fact]
    public async Task A_lock_of_a_session_that_dies_goes_to_the_next_and_the_old_token_writes_nothing()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        var old = await first.OpenSessionAsync(Long, "old");
        await using var next = await second.OpenSessionAsync(Long, "next");
        var token = await AcquireAsync(first, old);
        var holder = await second.Locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" });
        Assert.Equal((token, "old"), (holder.FencingToken, holder.Owner));
        Assert.Equal(0, await AcquireAsync(second, next, TimeSpan.Zero));
        Assert.Equal(0, await AcquireAsync(second, next, TimeSpan.FromMilliseconds(50)));
        Assert.True(await WriteAsync(first, token));

        var waiting = AcquireAsync(second, next, Front.Patience);
        await old.DisposeAsync();
        var later = await waiting;
        Assert.True(later > token);
        Assert.False(await WriteAsync(first, token));
        Assert.True(await WriteAsync(second, later));
    }

    [Fact]
    public async Task A_lock_of_a_front_end_that_dies_is_free_after_its_time_to_live()
    {
        await using var front = new Front();
        var second = await StartAsync(front);
        var runtime = front.NewRuntime();
        var first = await TangoFrontEnd.StartAsync(runtime);
        await using var old = await first.OpenSessionAsync(Long);
        await using var next = await second.OpenSessionAsync(Long);
        var token = await AcquireAsync(first, old, timeToLive: Short);
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
        var token = await AcquireAsync(own, silent, timeToLive: Long);
        Assert.True(await AcquireAsync(own, next, Front.Patience) > token);
        Assert.Equal((StatusCode.FailedPrecondition, "SESSION_NOT_FOUND"),
            await TangoFrontEnd.FailureOf(silent.NextAsync));
        Assert.Equal((StatusCode.NotFound, "SESSION_NOT_FOUND"),
            await TangoFrontEnd.FailureOf(() => AcquireAsync(own, silent)));
        await next.KeepAliveAsync();
        Assert.Equal(SessionEvent.EventOneofCase.KeptAlive, (await next.NextAsync()).EventCase);
    }

    [Fact]
    public async Task A_lock_is_released_once_and_ends_with_its_session()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var session = await own.OpenSessionAsync(Long);
        var request = new ReleaseRequest
        {
            Object = "mutex",
            Session = session.Id,
            FencingToken = await AcquireAsync(own, session),
        };
        Assert.True((await own.Locks.ReleaseAsync(request)).Released);
        Assert.False((await own.Locks.ReleaseAsync(request)).Released);
        var token = await AcquireAsync(own, session);
        Assert.True(token > request.FencingToken);
        // Numbers that name it as if it were a delivery do not take it out of the session.
        Assert.False((await own.WorkQueues.AbandonAsync(new AbandonRequest
        {
            Object = "mutex",
            Session = session.Id,
            Delivery = new Delivery { Item = token, Token = -1 },
        })).Abandoned);
        await session.EndAsync();
        Assert.False((await own.Locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" })).HasFencingToken);
    }

    [Fact]
    public async Task Work_is_completed_once_and_that_of_a_dead_consumer_is_delivered_again()
    {
        await using var front = new Front();
        var (first, second) = (await StartAsync(front), await front.StartAsync());
        foreach (var item in new[] { "a", "b" })
            await first.WorkQueues.EnqueueAsync(
                new EnqueueRequest { Object = "jobs", Value = ByteString.CopyFromUtf8(item) });
        var dead = await first.OpenSessionAsync(Long);
        await using var alive = await second.OpenSessionAsync(Long);
        var lost = await ReceiveAsync(first, dead);
        Assert.Equal(("a", 1U), (lost.Value.ToStringUtf8(), lost.Attempt));
        await dead.DisposeAsync();
        var (done, again) = (await ReceiveAsync(second, alive), await ReceiveAsync(second, alive));
        Assert.Equal(["a", "b"], new[] { done, again }.Select(one => one.Value.ToStringUtf8()).Order());
        var ofA = done.Delivery.Item == lost.Delivery.Item ? done : again;
        Assert.Equal(2U, ofA.Attempt);
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
        var none = await second.WorkQueues.ReceiveAsync(
            new ReceiveRequest { Object = "jobs", Session = alive.Id, MaxWait = new Duration() });
        Assert.Null(none.Delivery);

        static TransactRequest Complete(Delivery delivery) =>
            new() { OnSuccess = { new Operation { Object = "jobs", Complete = delivery } } };
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_is_completed_is_not_held_any_more_and_not_lost(bool inTransaction)
    {
        await using var front = new Front();
        var own = await StartAsync(front, static options => options.Tango.MaxHeldPerSession = 1);
        await using var session = await own.OpenSessionAsync(Long);
        for (var i = 0; i < 3; i++)
        {
            await own.WorkQueues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
            var received = await ReceiveAsync(own, session);
            Assert.Equal(1U, received.Attempt);
            if (!inTransaction) await CompleteAsync(own, received.Delivery);
            else
                Assert.NotNull((await own.Transactions.TransactAsync(new TransactRequest
                {
                    OnSuccess = { new Operation { Object = "jobs", Complete = received.Delivery } },
                })).Committed);
        }

        await session.KeepAliveAsync();
        Assert.Equal(SessionEvent.EventOneofCase.KeptAlive, (await session.NextAsync()).EventCase);
    }

    [Fact]
    public async Task An_item_that_is_abandoned_is_delivered_again()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        await using var session = await own.OpenSessionAsync(Long);
        await own.WorkQueues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        var first = await ReceiveAsync(own, session);
        var request = new AbandonRequest { Object = "jobs", Session = session.Id, Delivery = first.Delivery };
        Assert.True((await own.WorkQueues.AbandonAsync(request)).Abandoned);
        Assert.False((await own.WorkQueues.AbandonAsync(request)).Abandoned);
        var second = await ReceiveAsync(own, session);
        Assert.Equal(2U, second.Attempt);
        Assert.True(second.Delivery.Token > first.Delivery.Token);
    }

    [Fact]
    public async Task Entries_end_with_their_session_or_their_own_time()
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
    public async Task Sessions_have_limits_and_say_what_is_wrong_with_them()
    {
        await using var front = new Front();
        var own = await StartAsync(front, static options =>
            (options.Tango.MaxSessions, options.Tango.MaxHeldPerSession) = (1, 1));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await TangoFrontEnd.FailureOf(() => own.OpenSessionAsync(TimeSpan.FromMilliseconds(1))));
        await using var session = await own.OpenSessionAsync(Long);
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => own.OpenSessionAsync(Long)));
        Assert.NotEqual(0, await AcquireAsync(own, session));
        await own.CreateAsync("other", ObjectType.Lock);
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => AcquireAsync(own, session, name: "other")));
        // What was too much is free again, and an item that was too much was not delivered.
        Assert.False((await own.Locks.GetHolderAsync(new GetHolderRequest { Object = "other" })).HasFencingToken);
        await own.WorkQueues.EnqueueAsync(new EnqueueRequest { Object = "jobs", Value = ByteString.Empty });
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => ReceiveAsync(own, session)));
        await session.EndAsync();
        await using var next = await own.OpenSessionAsync(Long);
        Assert.Equal(1U, (await ReceiveAsync(own, next)).Attempt);
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

    private static async Task<long> AcquireAsync(
        TangoFrontEnd own, CallerSession session, TimeSpan? maxWait = null, TimeSpan? timeToLive = null,
        string name = "mutex")
    {
        var request = new AcquireRequest { Object = name, Session = session.Id };
        if (maxWait is { } wait) request.MaxWait = Duration.FromTimeSpan(wait);
        if (timeToLive is { } life) request.TimeToLive = Duration.FromTimeSpan(life);
        return (await own.Locks.AcquireAsync(request)).FencingToken;
    }

    /// <summary>A write that the lock guards.</summary>
    private static async Task<bool> WriteAsync(TangoFrontEnd own, long token)
    {
        var outcome = await own.Transactions.TransactAsync(new TransactRequest
        {
            Compare = { new Compare { Object = "mutex", LockHeld = token } },
            OnSuccess = { new Operation { Object = "ledger", Set = new SetOperation { Key = "last" } } },
        });
        return outcome.Committed.Succeeded;
    }

    private static async Task<ReceiveResponse> ReceiveAsync(TangoFrontEnd own, CallerSession session) =>
        await own.WorkQueues.ReceiveAsync(new ReceiveRequest
        {
            Object = "jobs",
            Session = session.Id,
            MaxWait = Duration.FromTimeSpan(Front.Patience),
        });

    private static async Task CompleteAsync(TangoFrontEnd own, Delivery delivery) =>
        await own.WorkQueues.CompleteAsync(new CompleteRequest { Object = "jobs", Delivery = delivery });

    private static SetLeasedRequest Entry(string key, SetLeasedRequest request)
    {
        (request.Object, request.Key, request.Value) = ("nodes", key, ByteString.CopyFromUtf8(key));
        return request;
    }

    private static async Task<List<string>> KeysAsync(TangoFrontEnd own, string prefix)
    {
        using var call = own.LeasedDictionaries.List(new ListLeasedRequest { Object = "nodes", Prefix = prefix });
        var keys = new List<string>();
        await foreach (var message in call.ResponseStream.ReadAllAsync())
            keys.AddRange(message.Entries.Select(entry => entry.Key));
        return keys;
    }
}
