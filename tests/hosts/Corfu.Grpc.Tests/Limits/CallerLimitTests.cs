using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Grpc.Tests.Access;
using Corfu.Grpc.Tests.Tango;
using Corfu.Protocol;
using global::Grpc.Core;
using Google.Protobuf;
using Google.Rpc;
using WatchRequest = Corfu.Grpc.Protocol.Tango.V1.WatchRequest;

namespace Corfu.Grpc.Tests.Limits;

/// <summary>A caller meets its own limits, and no other does.</summary>
public sealed class CallerLimitTests
{
    private const int Large = 60_000;

    [Fact]
    public async Task Caller_with_a_full_share_of_bytes_is_not_read_and_holds_up_no_other()
    {
        var reached = new TaskCompletionSource();
        var held = new TaskCompletionSource();
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            configure: static options =>
                (options.MaxReceiveMessage, options.MaxBytesOfCaller) = (100_000, 100_000),
            log: new()
            {
                AroundAppend = stop =>
                {
                    reached.TrySetResult();
                    return new ValueTask(held.Task);
                },
            });
        var (greedy, modest) = (frontEnd.As(AccessRole.Client, "greedy"), frontEnd.As(AccessRole.Client, "modest"));
        using var stream = greedy.Log.AppendMany();
        for (ulong id = 0; id < 3; id++) await stream.RequestStream.WriteAsync(Message(id));
        await stream.RequestStream.CompleteAsync();
        await reached.Task;
        // The first entry is in flight, and the second one waits for its bytes.
        var refused = await Assert.ThrowsAsync<RpcException>(async () => await AppendAsync(greedy));
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", "MaxBytesOfCaller"), LimitOf(refused));
        var other = AppendAsync(modest);
        held.SetResult();
        Assert.Equal(Outcome.Appended, (await other).Result.Outcome);
        var results = 0;
        await foreach (var response in stream.ResponseStream.ReadAllAsync())
        {
            Assert.All(response.Items, static item => Assert.Equal(Outcome.Appended, item.Result.Outcome));
            results += response.Items.Count;
        }

        Assert.Equal(3, results);
        Assert.Equal(Outcome.Appended, (await AppendAsync(greedy)).Result.Outcome);
    }

    [Fact]
    public async Task Subscriptions_watches_and_sessions_have_a_number_for_each_caller()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(configure: static options =>
        {
            options.MaxSubscriptionsOfCaller = 2;
            options.Tango.MaxWatchesOfCaller = 1;
            options.Tango.MaxSessionsOfCaller = 1;
        });
        var (greedy, modest) = (frontEnd.As(AccessRole.Client, "greedy"), frontEnd.As(AccessRole.Client, "modest"));
        await greedy.Objects.CreateAsync(new CreateRequest { Object = "d", Type = ObjectType.Dictionary });
        await MeetAsync(greedy, modest, "MaxSubscriptionsOfCaller", 2, caller =>
        {
            var call = caller.Log.Subscribe(new SubscribeRequest());
            return (call, () => call.ResponseStream.MoveNext());
        });
        await MeetAsync(greedy, modest, "MaxWatchesOfCaller", 1, caller =>
        {
            var call = caller.Dictionaries.Watch(new WatchRequest { Object = "d" });
            return (call, () => call.ResponseStream.MoveNext());
        });
        await MeetAsync(greedy, modest, "MaxSessionsOfCaller", 1, caller =>
        {
            var call = caller.Sessions.Keep();
            return (call, async () =>
            {
                await Caller.RefusalOf(() => call.RequestStream.WriteAsync(new KeepRequest
                {
                    Open = new OpenSession
                    {
                        TimeToLive = Google.Protobuf.WellKnownTypes.Duration.FromTimeSpan(TimeSpan.FromSeconds(30)),
                    },
                }));
                return await call.ResponseStream.MoveNext();
            }
            );
        });
    }

    [Fact]
    public async Task Calls_at_once_have_a_number_for_each_caller()
    {
        var reached = new TaskCompletionSource();
        var held = new TaskCompletionSource();
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            configure: static options => options.MaxCallsOfCaller = 1,
            log: new()
            {
                AroundAppend = _ =>
                {
                    reached.TrySetResult();
                    return new ValueTask(held.Task);
                },
            });
        var (greedy, modest) = (frontEnd.As(AccessRole.Client, "greedy"), frontEnd.As(AccessRole.Client, "modest"));
        var first = AppendAsync(greedy);
        await reached.Task;
        var refused = await Assert.ThrowsAsync<RpcException>(
            async () => await greedy.Log.DescribeAsync(new DescribeRequest()));
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", "MaxCallsOfCaller"), LimitOf(refused));
        await modest.Log.DescribeAsync(new DescribeRequest());
        // Subscriptions are counted for themselves.
        using var subscription = greedy.Log.Subscribe(new SubscribeRequest());
        Assert.True(await subscription.ResponseStream.MoveNext());
        held.SetResult();
        await first;
        await greedy.Log.DescribeAsync(new DescribeRequest());
    }

    [Fact]
    public async Task Objects_have_a_number_for_each_caller_until_closed()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(configure: static options =>
            options.Tango.MaxObjectsOfCaller = 2);
        var (greedy, modest) = (frontEnd.As(AccessRole.Client, "greedy"), frontEnd.As(AccessRole.Client, "modest"));
        foreach (var name in (string[])["a", "b", "a"]) await CreateAsync(greedy, name);
        var refused = await Assert.ThrowsAsync<RpcException>(() => CreateAsync(greedy, "c"));
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", "MaxObjectsOfCaller"), LimitOf(refused));
        Assert.InRange(int.Parse(InfoOf(refused).Metadata["retry_after_ms"]), 1, 60_000);
        await CreateAsync(greedy, "b");
        await CreateAsync(modest, "c");
    }

    [Fact]
    public async Task Rates_refuse_with_the_time_to_wait()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(configure: static options =>
            (options.MaxCallsPerSecond, options.MaxBytesPerSecond) = (1000, 100));
        var (greedy, modest) = (frontEnd.As(AccessRole.Client, "greedy"), frontEnd.As(AccessRole.Client, "modest"));
        await AppendAsync(greedy);
        var refused = await Assert.ThrowsAsync<RpcException>(async () =>
        {
            for (var i = 0; i < 1000; i++) await AppendAsync(greedy);
        });
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", "MaxBytesPerSecond"), LimitOf(refused));
        Assert.InRange(int.Parse(InfoOf(refused).Metadata["retry_after_ms"]), 1, 1000);
        await AppendAsync(modest);

        await using var slow = await SecureFrontEnd.StartAsync(configure: static options =>
            options.MaxCallsPerSecond = 1);
        var caller = slow.As(AccessRole.Client, "x");
        refused = await Assert.ThrowsAsync<RpcException>(async () =>
        {
            for (var i = 0; i < 1000; i++) await caller.Log.DescribeAsync(new DescribeRequest());
        });
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", "MaxCallsPerSecond"), LimitOf(refused));
        Assert.InRange(int.Parse(InfoOf(refused).Metadata["retry_after_ms"]), 1, 1000);
    }

    [Fact]
    public async Task Connection_beyond_the_number_is_closed()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            configure: static options => options.MaxConnections = 1);
        using var open = frontEnd.As(AccessRole.Client, "a").Log.Subscribe(new SubscribeRequest());
        Assert.True(await open.ResponseStream.MoveNext());
        await Assert.ThrowsAsync<RpcException>(
            async () => await frontEnd.As(AccessRole.Client, "b").Log.DescribeAsync(new DescribeRequest()));
    }

    /// <summary>Opens calls up to the greedy caller's limit.</summary>
    private static async Task MeetAsync(Caller greedy, Caller modest, string limit, int count,
        Func<Caller, (IDisposable Call, Func<Task<bool>> Next)> open)
    {
        var opened = new List<IDisposable>();
        for (var i = 0; i < count; i++) Assert.True(await NextAsync(greedy));
        var refused = await Assert.ThrowsAsync<RpcException>(() => NextAsync(greedy));
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED", limit), LimitOf(refused));
        Assert.True(await NextAsync(modest));
        // A place that is given back is another call's.
        opened[0].Dispose();
        await Poll.UntilAsync(async () =>
        {
            try
            {
                return await NextAsync(greedy);
            }
            catch (RpcException e) when (e.StatusCode == StatusCode.ResourceExhausted)
            {
                return false;
            }
        });
        foreach (var call in opened) call.Dispose();

        async Task<bool> NextAsync(Caller caller)
        {
            var (call, next) = open(caller);
            opened.Add(call);
            return await next();
        }
    }

    private static async Task CreateAsync(Caller caller, string name) =>
        await caller.Objects.CreateAsync(new CreateRequest { Object = name, Type = ObjectType.Lock });

    private static async Task<AppendResponse> AppendAsync(Caller caller) =>
        await caller.Log.AppendAsync(new AppendRequest { Entry = Entry() });

    private static NewEntry Entry() => new() { Payload = ByteString.CopyFrom(new byte[Large]) };

    private static AppendManyRequest Message(ulong id) =>
        new() { Items = { new AppendManyRequest.Types.Item { Id = id, Entry = Entry() } } };

    private static (StatusCode Code, string Reason, string Limit) LimitOf(RpcException e) =>
        (e.StatusCode, InfoOf(e).Reason, InfoOf(e).Metadata["limit"]);

    private static ErrorInfo InfoOf(RpcException e) => e.GetRpcStatus()!.GetDetail<ErrorInfo>()!;
}
