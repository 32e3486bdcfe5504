using System.Text;
using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Hosting;
using Google.Rpc;
using Grpc.Core;
using Tango.Testing;

namespace Corfu.Grpc.Tests;

public sealed class SubscribeTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly StreamId A = StreamId.FromName("a");
    private static readonly StreamId B = StreamId.FromName("b");

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Subscription_delivers_present_and_new_entries_with_holes_closed(bool streams)
    {
        var faults = new Queue<AppendFault>([AppendFault.None, AppendFault.LostAndUnknown]);
        var log = new InMemoryCorfuLog(
            new InMemoryLogOptions { NextAppendFault = () => faults.TryDequeue(out var f) ? f : AppendFault.None });
        foreach (var text in new[] { "0", "hole", "2" }) await log.AppendAsync(Bytes(text), [A]);
        await log.AppendAsync(Bytes("other"), [StreamId.FromName("c")]);
        await using var frontEnd = await FrontEnd.StartAsync(log);
        var request = new SubscribeRequest { FromOffset = 0 };
        if (streams) request.StreamNames.Add(["a", "b"]);
        using var call = new LogService.LogServiceClient(frontEnd.Channel).Subscribe(request);
        var reader = new SubscriptionReader(call);
        string[] there = streams ? ["0", "2"] : ["0", "2", "other"];
        Assert.Equal(there, await reader.TakeAsync(there.Length));
        await log.AppendAsync(Bytes("later"), [A, B]);
        Assert.Equal(["later"], await reader.TakeAsync(1));
        Assert.Equal(5, reader.ResumeFrom);
    }

    [Fact]
    public async Task Subscription_from_now_names_the_position_in_the_first_answer_and_in_heartbeats()
    {
        var log = new InMemoryCorfuLog();
        for (var i = 0; i < 3; i++) await log.AppendAsync(Bytes($"{i}"), [A]);
        await using var frontEnd = await FrontEnd.StartAsync(
            log, options => options.Heartbeat = TimeSpan.FromMilliseconds(50));
        using var call = new LogService.LogServiceClient(frontEnd.Channel).Subscribe(
            new SubscribeRequest { StreamNames = { "a" } });
        for (var i = 0; i < 3; i++)
        {
            Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None).WaitAsync(Patience));
            Assert.Equal((0, 3), (call.ResponseStream.Current.Entries.Count, call.ResponseStream.Current.ResumeOffset));
        }

        await log.AppendAsync(Bytes("new"), [A]);
        Assert.Equal(["new"], await new SubscriptionReader(call).TakeAsync(1));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_trimmed_start_is_an_error_with_the_mark(bool streams)
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var client = await cluster.ConnectAsync();
        for (var i = 0; i < 10; i++) (await client.AppendAsync(Bytes($"{i}"), [A])).Require();
        await client.TrimPrefixAsync(new LogPosition(6));
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var request = new SubscribeRequest { FromOffset = 2 };
        if (streams) request.StreamIds.Add(A.Value);
        using var call = log.Subscribe(request);
        var trimmed = await Assert.ThrowsAsync<RpcException>(
            async () => await new SubscriptionReader(call).TakeAsync(1));
        Assert.Equal(StatusCode.OutOfRange, trimmed.StatusCode);
        var info = trimmed.GetRpcStatus()!.GetDetail<ErrorInfo>();
        Assert.Equal(("TRIMMED", "6"), (info.Reason, info.Metadata["mark"]));
        request.FromOffset = 6;
        using var again = log.Subscribe(request);
        Assert.Equal(["6", "7", "8", "9"], await new SubscriptionReader(again).TakeAsync(4));
    }

    /// <summary>Front ends end while a subscriber reads: what it has from all of them is the log, once.</summary>
    [Fact]
    public async Task Subscription_resumes_at_another_front_end_without_loss_or_repetition()
    {
        const int count = 300;
        var log = new InMemoryCorfuLog();
        var appending = Task.Run(async () =>
        {
            for (var i = 0; i < count; i++) await log.AppendAsync(Bytes($"{i}"), [A]);
        });
        var read = new List<string>();
        var from = 0L;
        while (read.Count < count)
        {
            await using var frontEnd = await FrontEnd.StartAsync(
                log, options => (options.MaxBatchEntries, options.TailInterval) = (7, TimeSpan.FromMilliseconds(1)));
            using var call = new LogService.LogServiceClient(frontEnd.Channel).Subscribe(
                new SubscribeRequest { FromOffset = from, StreamNames = { "a" } });
            var reader = new SubscriptionReader(call);
            read.AddRange(await reader.TakeAsync(Math.Min(40, count - read.Count)));
            from = reader.ResumeFrom;
            await frontEnd.AbortAsync();
        }

        await appending;
        Assert.Equal(Enumerable.Range(0, count).Select(i => $"{i}"), read);
    }

    [Fact]
    public async Task Subscriptions_beyond_the_limit_are_refused_and_one_that_ends_makes_room()
    {
        await using var frontEnd = await FrontEnd.StartAsync(
            new InMemoryCorfuLog(), options => options.MaxSubscriptions = 1);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var first = log.Subscribe(new SubscribeRequest());
        Assert.True(await first.ResponseStream.MoveNext(CancellationToken.None));
        using (var second = log.Subscribe(new SubscribeRequest()))
        {
            var refused = await Assert.ThrowsAsync<RpcException>(
                async () => await second.ResponseStream.MoveNext(CancellationToken.None));
            Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        }

        first.Dispose();
        var deadline = DateTime.UtcNow + Patience;
        while (true)
        {
            using var third = log.Subscribe(new SubscribeRequest());
            try
            {
                Assert.True(await third.ResponseStream.MoveNext(CancellationToken.None));
                return;
            }
            catch (RpcException e) when (e.StatusCode == StatusCode.ResourceExhausted && DateTime.UtcNow < deadline)
            {
                // The front end has not seen the end of the first one yet.
            }
        }
    }

    /// <summary>Reads entries whole messages at a time, as a client does that keeps the position to resume
    /// from.</summary>
    private sealed class SubscriptionReader(AsyncServerStreamingCall<SubscribeResponse> call)
    {
        public long ResumeFrom { get; private set; }

        public async Task<List<string>> TakeAsync(int atLeast)
        {
            var texts = new List<string>();
            while (texts.Count < atLeast)
            {
                Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None).WaitAsync(Patience));
                var response = call.ResponseStream.Current;
                texts.AddRange(response.Entries.Select(entry => Encoding.UTF8.GetString(entry.Payload.Span)));
                ResumeFrom = response.ResumeOffset;
            }

            return texts;
        }
    }
}
