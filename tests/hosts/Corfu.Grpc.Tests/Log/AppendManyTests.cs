using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.V1;
using Corfu.Protocol;
using Google.Protobuf;
using Grpc.Core;
using Tango.Testing;
using FillRequest = Corfu.Grpc.Protocol.Log.V1.FillRequest;
using Outcome = Corfu.Grpc.Protocol.Log.V1.Outcome;
using TrimRequest = Corfu.Grpc.Protocol.Log.V1.TrimRequest;

namespace Corfu.Grpc.Tests;

/// <summary>AppendMany and Append as any gRPC client sees them.</summary>
public sealed class AppendManyTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private static AppendManyRequest.Types.Item Item(ulong id, string text = "x", params ulong[] streams) => new()
    {
        Id = id,
        Entry = new NewEntry { Payload = ByteString.CopyFromUtf8(text), StreamIds = { streams } },
    };

    private static async Task<Dictionary<ulong, AppendManyResponse.Types.Item>> DrainAsync(
        AsyncDuplexStreamingCall<AppendManyRequest, AppendManyResponse> call)
    {
        var results = new Dictionary<ulong, AppendManyResponse.Types.Item>();
        while (await call.ResponseStream.MoveNext(CancellationToken.None))
        {
            foreach (var item in call.ResponseStream.Current.Items) results.Add(item.Id, item);
        }

        return results;
    }

    [Fact]
    public async Task Every_entry_gets_one_result_and_a_refused_one_says_why()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog(
            new InMemoryLogOptions { MaxPayload = 100 }));
        var call = new LogService.LogServiceClient(frontEnd.Channel).AppendMany();
        var request = new AppendManyRequest();
        for (ulong i = 0; i < 64; i++) request.Items.Add(Item(i));
        await call.RequestStream.WriteAsync(request);
        await call.RequestStream.WriteAsync(new AppendManyRequest
        {
            Items =
            {
                Item(100, new string('x', 101)), Item(101, "x", 300), Item(102, "x", 1UL << 63, 1UL << 63),
                new AppendManyRequest.Types.Item { Id = 103 },
            },
        });
        await call.RequestStream.CompleteAsync();
        var results = await DrainAsync(call);
        Assert.Equal(68, results.Count);
        for (ulong i = 0; i < 64; i++) Assert.Equal(Outcome.Appended, results[i].Result.Outcome);
        Assert.Equal(64, results.Values.Where(item => item.Result.Error is null)
            .Select(item => item.Result.Position.Offset).Distinct().Count());
        string[] reasons = ["ENTRY_TOO_LARGE", "STREAM_RANGE", "INVALID_REQUEST", "INVALID_REQUEST"];
        for (var i = 0; i < reasons.Length; i++)
        {
            var refused = results[100 + (ulong)i];
            Assert.Equal((Outcome.NotAppended, reasons[i]), (refused.Result.Outcome, refused.Result.Error.Reason));
        }
    }

    /// <summary>A client that sends without end is held: the front end takes no more than its limit.</summary>
    [Fact]
    public async Task Front_end_at_the_limit_stops_reading()
    {
        var (running, most) = (0, 0);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var full = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (release.Task.IsCompleted) return;
                var now = Interlocked.Increment(ref running);
                InterlockedMax(ref most, now);
                if (now == 10) full.TrySetResult();
                await release.Task;
            },
        });
        await using var frontEnd = await FrontEnd.StartAsync(log, options => options.MaxEntriesInFlight = 10);
        var call = new LogService.LogServiceClient(frontEnd.Channel).AppendMany();
        var payload = new string('x', 50_000);
        var sending = Task.Run(async () =>
        {
            for (ulong i = 0; i < 100; i++)
                await call.RequestStream.WriteAsync(new AppendManyRequest { Items = { Item(i, payload) } });
            await call.RequestStream.CompleteAsync();
        });
        await full.Task.WaitAsync(Patience);
        // 5 MB do not fit the windows of HTTP/2, so the sender waits.
        Assert.False(sending.IsCompleted);
        Assert.Equal(10, most);
        release.SetResult();
        var results = await DrainAsync(call);
        await sending;
        Assert.Equal(100, results.Count);
    }

    [Fact]
    public async Task A_deadline_leaves_time_for_the_outcome()
    {
        var log = new StuckLog();
        // Four seconds are left of a deadline that the client has a minute for, however busy the machine is.
        await using var frontEnd = await FrontEnd.StartAsync(log, time: new FastClock(TimeSpan.FromSeconds(56)));
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        var response = await client.AppendAsync(
            new AppendRequest { Entry = new NewEntry() }, deadline: DateTime.UtcNow.AddSeconds(60));
        Assert.Equal((Outcome.Unknown, 7), (response.Result.Outcome, response.Result.Position.Offset));
    }

    [Fact]
    public async Task A_deadline_that_passes_is_an_error()
    {
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            BeforeCheck = async stop => await Task.Delay(Timeout.Infinite, stop),
        });
        await using var frontEnd = await FrontEnd.StartAsync(log);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        var late = await Assert.ThrowsAsync<RpcException>(async () => await client.CheckAsync(
            new CheckRequest(), deadline: DateTime.UtcNow.AddMilliseconds(300)));
        Assert.Equal(StatusCode.DeadlineExceeded, late.StatusCode);
    }

    [Fact]
    public async Task A_message_beyond_the_limit_is_refused()
    {
        var log = new InMemoryCorfuLog();
        await using var frontEnd = await FrontEnd.StartAsync(log, options => options.MaxReceiveMessage = 1000);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        var refused = await Assert.ThrowsAsync<RpcException>(async () => await client.AppendAsync(
            new AppendRequest { Entry = new NewEntry { Payload = ByteString.CopyFrom(new byte[2000]) } }));
        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        Assert.Equal(0, (await log.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Requests_that_make_no_sense_are_refused()
    {
        await using var frontEnd = await FrontEnd.StartAsync(
            new InMemoryCorfuLog(), static options => options.AllowTrims = true);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        Func<Task>[] calls =
        [
            async () => await client.AppendAsync(new AppendRequest()),
            async () => await client.ResolveAsync(new ResolveRequest()),
            async () => await client.FillAsync(new FillRequest()),
            async () => await client.TrimAsync(new TrimRequest { Position = new Position { Offset = -1 } }),
            async () => await client.ReadRange(new ReadRangeRequest { FromOffset = 5, ToOffset = 4 }).ResponseStream
                .MoveNext(CancellationToken.None),
            async () => await client.CheckAsync(new CheckRequest { StreamNames = { "a", "a" } }),
            async () => await client.CheckAsync(new CheckRequest { Consistency = (Consistency)77 }),
        ];
        foreach (var call in calls)
            Assert.Equal(StatusCode.InvalidArgument, (await Assert.ThrowsAsync<RpcException>(call)).StatusCode);
    }

    private static void InterlockedMax(ref int target, int value)
    {
        for (var seen = Volatile.Read(ref target); value > seen;)
        {
            var before = Interlocked.CompareExchange(ref target, value, seen);
            if (before == seen) return;
            seen = before;
        }
    }

    /// <summary>Appends have a position and never an outcome.</summary>
    private sealed class FastClock(TimeSpan ahead) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + ahead;
    }

    private sealed class StuckLog : WrappedLog
    {
        public override async ValueTask<Corfu.AppendResult> AppendAsync(ReadOnlyMemory<byte> payload,
            System.Collections.Immutable.ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
        {
            var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var registration = cancellationToken.Register(ended.SetResult);
            await ended.Task;
            var origin = new EntryOrigin(new WriterId(Guid.NewGuid()), 1);
            return new(AppendOutcome.Unknown, new LogPosition(7, Epoch.First), origin);
        }
    }
}
