using Corfu.ZooKeeper.Hosting;
using Tango.Testing;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>Front ends whose reads are linearizable.</summary>
public sealed class LinearizableReadTests
{
    [Fact]
    public async Task Read_shows_acknowledged_writes_of_another_front_end()
    {
        await using var server = await StartAsync();
        await using var other = await server.StartBesideAsync();
        await using var reader = await server.ConnectAsync();
        await using var writer = await other.ConnectAsync();
        for (var i = 0; i < 30; i++)
        {
            var created = await writer.SendAsync(Ops.Create($"/n{i}", "1"));
            Assert.Equal(ErrorCode.Ok, created.Error);
            // A front end looks for writes of another one every 5 ms by itself.
            var read = i % 2 == 0
                ? await reader.SendAsync(new NodeRequest(OpCode.Exists, $"/n{i}"))
                : (await reader.SendAsync(new MultiReadRequest([new NodeRequest(OpCode.GetData, $"/n{i}")]))).Parts[0];
            Assert.Equal(ErrorCode.Ok, read.Error);
        }
    }

    [Fact]
    public async Task Requests_that_overlap_are_answered_in_order_and_reads_stand_between_the_writes()
    {
        await using var server = await StartAsync();
        await using var client = await server.ConnectAsync();
        var replies = new List<Task<ServerReply>>();
        for (var i = 0; i < 20; i++)
        {
            replies.Add(client.SendAsync(Ops.Create("/x", "data")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Exists, "/x")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Sync, "/x")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Exists, "/x")));
            replies.Add(client.SendAsync(Ops.Delete("/x")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Exists, "/x")));
        }

        var all = await Task.WhenAll(replies);
        Assert.Equal(all.Select(reply => reply.Zxid).Order(), all.Select(reply => reply.Zxid));
        for (var i = 0; i < all.Length; i++)
            Assert.Equal(i % 6 == 5 ? ErrorCode.NoNode : ErrorCode.Ok, all[i].Error);
    }

    [Fact]
    public async Task Watch_of_a_read_hears_of_the_next_change()
    {
        await using var server = await StartAsync();
        var told = new List<ServerEvent>();
        await using var client = await server.ConnectAsync(onEvent: told.Add);
        await client.SendAsync(Ops.Create("/w", "1"));
        await client.SendAsync(new NodeRequest(OpCode.GetData, "/w", Watch: true));
        await client.SendAsync(Ops.Delete("/w"));
        Assert.Equal((TreeChangeKind.Deleted, "/w"), (told[0].Kind, told[0].Path));
        Assert.Contains("reads=linearizable", await server.AskAsync("conf"), StringComparison.Ordinal);
    }

    /// <summary>Found by kazoo's tests under load: the second sync had no answer.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Requests_are_answered_also_when_the_check_ends_within_the_call(bool isLinearizable)
    {
        await using var server = await TestServer.StartAsync(new InMemoryLogOptions { Yield = false }, configure:
            own => own with { Reads = isLinearizable ? ZooKeeperReads.Linearizable : ZooKeeperReads.Session });
        await using var client = await server.ConnectAsync();
        for (var i = 0; i < 3; i++)
        {
            Assert.Equal("/x", (await client.SendAsync(new NodeRequest(OpCode.Sync, "/x"))).Path);
            Assert.Equal(ErrorCode.NoNode, (await client.SendAsync(new NodeRequest(OpCode.GetData, "/x"))).Error);
        }
    }

    private static Task<TestServer> StartAsync() => TestServer.StartAsync(
        configure: static options => options with { Reads = ZooKeeperReads.Linearizable });
}
