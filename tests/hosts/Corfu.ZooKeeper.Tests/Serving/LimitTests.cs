using System.Text.Json;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.Logging;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>Bounds of what all clients together may hold.</summary>
public sealed class LimitTests
{
    private const int Limit = 4 << 20;
    private const string Queue = "corfu.zookeeper.queue.size";
    private const string Closed = "corfu.zookeeper.connection.closed";

    [Fact]
    public async Task Connection_with_most_bytes_is_closed_when_all_hold_too_much()
    {
        using var figures = new Figures();
        using var lines = new Lines();
        await using var server = await StartAsync("half-frames", lines);
        // Halves of frames: the rest never comes, or later.
        await using var largest = await RawClient.BeginAsync(server.EndPoint);
        await largest.Stream.WriteAsync(RawClient.FrameOf(1, Create("/l", new string('x', 1_010_000)))[..1_000_000]);
        await figures.WaitAsync(Queue, "in half-frames", 1_000_000);
        var frame = RawClient.FrameOf(1, Create("/s", new string('x', 700_000)));
        var small = new List<RawClient>();
        for (var i = 1; i <= 5; i++)
        {
            small.Add(await RawClient.BeginAsync(server.EndPoint));
            await small[^1].Stream.WriteAsync(frame.AsMemory(0, 700_000));
            await figures.WaitAsync(Queue, "in half-frames", i < 5 ? 1_000_000 + i * 700_000 : 5 * 700_000);
        }

        Assert.Null(await largest.ReadFrameAsync());
        Assert.Contains(lines.All, line => line.Level == LogLevel.Warning
            && line.Text.Contains("it holds 1000000 bytes, more than any other", StringComparison.Ordinal));
        Assert.True(figures.SumOf(Closed, "memory") >= 1);
        foreach (var client in small)
        {
            await client.Stream.WriteAsync(frame.AsMemory(700_000));
            Assert.NotNull(await client.ReadFrameAsync());
            await client.DisposeAsync();
        }

        await figures.WaitAsync(Queue, "in half-frames", 0);
    }

    [Fact]
    public async Task Reader_of_large_nodes_without_end_is_closed_and_the_writer_is_served()
    {
        using var figures = new Figures();
        await using var server = await StartAsync("large-reads");
        await using var writer = await server.ConnectAsync();
        await writer.SendAsync(Create("/large", new string('x', 1_000_000)));
        await using var reader = await RawClient.BeginAsync(server.EndPoint);
        // Behind a sync all replies are queued at once.
        await reader.Stream.WriteAsync(RawClient.FrameOf(1, new NodeRequest(OpCode.Sync, "/")));
        var read = RawClient.FrameOf(2, new NodeRequest(OpCode.GetData, "/large"));
        await reader.Stream.WriteAsync(Enumerable.Repeat(read, 100).SelectMany(bytes => bytes).ToArray());
        await reader.DrainAsync();
        Assert.Equal(1_000_000, (await writer.SendAsync(new NodeRequest(OpCode.GetData, "/large"))).Data!.Length);
        await figures.WaitAsync(Queue, "out large-reads", 0);
    }

    [Fact]
    public async Task Storm_of_watches_closes_a_client_without_reads()
    {
        using var figures = new Figures();
        using var lines = new Lines();
        await using var server = await StartAsync("storm", lines);
        await using var writer = await server.ConnectAsync();
        await using var watcher = await RawClient.BeginAsync(server.EndPoint);
        await watcher.Stream.WriteAsync(
            RawClient.FrameOf(1, new WatchRequest(OpCode.AddWatch, "/", (int)WatchMode.Recursive)));
        Assert.NotNull(await watcher.ReadFrameAsync());
        // Events of long paths, until the socket's buffers are full too.
        var path = "/" + new string('p', 60_000);
        await writer.SendAsync(Create(path, ""));
        while (!lines.All.Any(line => line.Text.Contains("more than any other", StringComparison.Ordinal)))
        {
            await Task.WhenAll(Enumerable.Range(0, 50).Select(_ =>
                writer.SendAsync(new WriteRequest(OpCode.SetData, new SetDataOp(path, [1], -1)))));
        }

        Assert.Equal("/after", (await writer.SendAsync(Create("/after", "1"))).Path);
        Assert.Equal(0, figures.Read("corfu.zookeeper.watch", "storm"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Client_with_most_watches_is_closed_when_all_are_too_many(bool isPersistent)
    {
        using var lines = new Lines();
        await using var server = await TestServer.StartAsync(configure: own => own with
        {
            Limits = own.Limits with { MaxWatchBytes = 64 << 10 },
            Loggers = lines,
        });
        var fired = new TaskCompletionSource<ServerEvent>();
        await using var few = await server.ConnectAsync(onEvent: fired.SetResult);
        await few.SendAsync(new NodeRequest(OpCode.Exists, "/few", Watch: true));
        await using var many = await server.ConnectAsync();
        await Assert.ThrowsAsync<ZooClientException>(async () =>
        {
            for (var i = 0; ; i++)
            {
                var path = $"/{i}" + new string('p', 1_000);
                await many.SendAsync(isPersistent
                    ? new WatchRequest(OpCode.AddWatch, path, (int)WatchMode.Recursive)
                    : new NodeRequest(OpCode.Exists, path, Watch: true));
            }
        });
        Assert.Contains(lines.All, line => line.Text.EndsWith("(maxWatchBytes)", StringComparison.Ordinal));
        await few.SendAsync(Create("/few", ""));
        Assert.Equal("/few", (await fired.Task).Path);
    }

    [Fact]
    public async Task Ended_watches_leave_room()
    {
        await using var server = await TestServer.StartAsync(
            configure: own => own with { Limits = own.Limits with { MaxWatchBytes = 64 << 10 } });
        await using var client = await server.ConnectAsync();
        var path = "/" + new string('p', 10_000);
        // Each turn leaves watches of 40 KiB, and ends them: by a change, by request, by the end of the connection.
        for (var i = 0; i < 3; i++)
        {
            await client.SendAsync(new NodeRequest(OpCode.Exists, path, Watch: true));
            await client.SendAsync(new WatchRequest(OpCode.AddWatch, path, (int)WatchMode.Persistent));
            await client.SendAsync(Create(path, ""));
            await client.SendAsync(new WriteRequest(OpCode.Delete, new DeleteOp(path, -1)));
            await client.SendAsync(new WatchRequest(OpCode.RemoveWatches, path, (int)WatchKind.Any));
            await using var other = await server.ConnectAsync();
            await other.SendAsync(new WatchRequest(OpCode.AddWatch, path, (int)WatchMode.Recursive));
            await other.SendAsync(new NodeRequest(OpCode.Exists, path, Watch: true));
            await other.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
        }

        Assert.StartsWith("0 connections watching 0 paths", await server.AskAsync("wchs"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Many_reads_of_large_nodes_in_a_request_end_the_connection_at_the_limit_of_a_reply()
    {
        using var lines = new Lines();
        await using var server = await TestServer.StartAsync(configure: own => own with { Loggers = lines });
        await using var client = await server.ConnectAsync();
        await client.SendAsync(Create("/large", new string('x', 1_000_000)));
        var reads = new MultiReadRequest([.. Enumerable.Repeat(new NodeRequest(OpCode.GetData, "/large"), 20_000)]);
        await Assert.ThrowsAsync<ZooClientException>(() => client.SendAsync(reads));
        Assert.Contains(lines.All, line => line.Text.Contains("too slowly", StringComparison.Ordinal));
    }

    [Fact]
    public async Task First_frame_of_more_than_a_kibibyte_is_refused()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await RawClient.ConnectAsync(server.EndPoint);
        await client.Stream.WriteAsync(new byte[] { 0, 0, 4, 1 });
        Assert.Null(await client.ReadFrameAsync());
    }

    [Theory]
    [InlineData("""{ "maxConnectionsPerAddress": 5, "maxBufferedBytes": 8388608 }""", null)]
    [InlineData("""{ "maxBufferedBytes": 5 }""", "limits.zookeeper: *MaxBufferedBytes is 5*")]
    [InlineData("""{ "maxClientCnxns": 5 }""", "limits.zookeeper: *maxClientCnxns*")]
    public void Limits_of_a_node_are_read_or_refused(string json, string? refusal)
    {
        var element = JsonDocument.Parse(json).RootElement;
        if (refusal is null)
        {
            Assert.Equal(
                new ZooKeeperLimits { MaxConnectionsPerAddress = 5, MaxBufferedBytes = 8 << 20 },
                ZooKeeperLimits.Read(element));
            return;
        }

        var fault = Assert.Throws<CorfuException>(() => ZooKeeperLimits.Read(element));
        Assert.Matches(refusal.Replace("*", ".*", StringComparison.Ordinal), fault.Message);
    }

    private static Task<TestServer> StartAsync(string service, Lines? lines = null) =>
        TestServer.StartAsync(configure: own => own with
        {
            Service = service,
            Limits = own.Limits with { MaxBufferedBytes = Limit },
            Loggers = lines ?? own.Loggers,
        });
}
