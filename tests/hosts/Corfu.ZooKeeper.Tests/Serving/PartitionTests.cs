using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Serving;
using Tango;
using Tango.Testing;
using static Corfu.ZooKeeper.Tests.Support.Ops;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>Partitions of the name space, as clients see them.</summary>
public sealed class PartitionTests
{
    [Fact]
    public async Task Nodes_of_all_partitions_form_a_single_tree()
    {
        await using var server = await StartAsync("/a", "/a/b", "/c");
        await using var client = await server.ConnectAsync();
        foreach (var path in (string[])["/a/x", "/a/b/x", "/c/x", "/x"])
            Assert.Equal(path, (await client.SendAsync(Create(path, path))).Path);
        foreach (var path in (string[])["/a/x", "/a/b/x", "/c/x", "/x"])
        {
            var read = await client.SendAsync(new NodeRequest(OpCode.GetData, path));
            Assert.Equal(path, System.Text.Encoding.UTF8.GetString(read.Data!));
        }

        Assert.Equal(["a", "c", "x", "zookeeper"],
            (await client.SendAsync(new NodeRequest(OpCode.GetChildren, "/"))).Names.Order());
        Assert.Equal(["b", "x"], (await client.SendAsync(new NodeRequest(OpCode.GetChildren, "/a"))).Names.Order());
        // Three of the service, three mounts, four nodes.
        Assert.Equal(10, (await client.SendAsync(new NodeRequest(OpCode.GetAllChildrenNumber, "/"))).Count);
        Assert.Equal(3, (await client.SendAsync(new NodeRequest(OpCode.GetAllChildrenNumber, "/a"))).Count);
        Assert.Equal(ErrorCode.BadArguments, (await client.SendAsync(Delete("/a/b"))).Error);
    }

    /// <summary>A multi that the sequencer decided was answered before it was played, and ended the
    /// connection.</summary>
    [Theory]
    [InlineData(TransactionDecisions.Playback)]
    [InlineData(TransactionDecisions.Sequencer)]
    public async Task Multi_across_partitions_is_answered_as_any_other(TransactionDecisions decisions)
    {
        await using var server = await StartAsync(
            ZooKeeperFrontEnd.RuntimeOptions with { Decisions = decisions }, "/a", "/b");
        await using var client = await server.ConnectAsync();
        var done = await client.SendAsync(Multi(
            (OpCode.Create, Op("/a/x")), (OpCode.Create, Op("/b/n-", flags: CreateFlags.Sequential)),
            (OpCode.Create, Op("/x"))));
        Assert.Equal(ErrorCode.Ok, done.Error);
        Assert.Equal(["/a/x", "/b/n-0000000000", "/x"], done.Parts.Select(part => part.Path));
        var stat = (await client.SendAsync(new NodeRequest(OpCode.Exists, "/a/x"))).Stat!.Value;
        Assert.Equal(done.Zxid, stat.Czxid);

        var failed = await client.SendAsync(Multi(
            (OpCode.Create, Op("/a/y")), (OpCode.Delete, new DeleteOp("/b/none", -1)), (OpCode.Create, Op("/y"))));
        Assert.Equal([0, -101, -2], failed.Parts.Select(part => (int)part.Error));
        Assert.Equal(ErrorCode.NoNode, (await client.SendAsync(new NodeRequest(OpCode.Exists, "/a/y"))).Error);
    }

    /// <summary>R23: a log of the feature level before.</summary>
    [Fact]
    public async Task Log_of_a_lower_level_is_served_beside_older_code()
    {
        var older = ZooKeeperFrontEnd.RuntimeOptions with { NewestLevel = RuntimeLog.KeyListLevel };
        await using var server = await StartAsync(older, "/a", "/b");
        await using var newer = await server.StartBesideAsync(
            tango: ZooKeeperFrontEnd.RuntimeOptions with { Decisions = TransactionDecisions.Sequencer });
        await newer.ServeAsync();
        await using var client = await server.ConnectAsync();
        await using var other = await newer.ConnectAsync();
        foreach (var (sender, name) in new[] { (client, "x"), (other, "y"), (client, "z") })
        {
            var done = await sender.SendAsync(Multi(
                (OpCode.Create, Op($"/a/{name}")), (OpCode.Create, Op($"/b/{name}"))));
            Assert.Equal(ErrorCode.Ok, done.Error);
            foreach (var reader in new[] { client, other })
            {
                Assert.Equal(ErrorCode.Ok, (await reader.SendAsync(new NodeRequest(OpCode.Sync, "/b"))).Error);
                Assert.Equal(done.Zxid,
                    (await reader.SendAsync(new NodeRequest(OpCode.Exists, $"/b/{name}"))).Stat!.Value.Czxid);
            }
        }

        Assert.Equal(RuntimeLog.KeyListLevel, await newer.ReadLevelAsync());
    }

    /// <summary>Z16: writes of one client around a multi across partitions take effect in its order.</summary>
    [Fact]
    public async Task Writes_around_a_multi_keep_the_order_of_the_client()
    {
        await using var server = await StartAsync("/a", "/b");
        await using var client = await server.ConnectAsync();
        await client.SendAsync(Create("/a/x", "0"));
        for (var round = 0; round < 5; round++)
        {
            var sent = new[]
            {
                client.SendAsync(Set("/a/x", "before")),
                client.SendAsync(Multi(
                    (OpCode.SetData, (SetDataOp)Set("/a/x", "multi").Op),
                    (OpCode.Create, Op($"/b/{round}")))),
                client.SendAsync(Set("/a/x", "after")),
                client.SendAsync(new NodeRequest(OpCode.GetData, "/a/x")),
            };
            var replies = await Task.WhenAll(sent);
            Assert.All(replies, static reply => Assert.Equal(ErrorCode.Ok, reply.Error));
            Assert.Equal("after", System.Text.Encoding.UTF8.GetString(replies[3].Data!));
            Assert.True(replies[0].Zxid < replies[1].Zxid && replies[1].Zxid < replies[2].Zxid);
        }
    }

    /// <summary>Z13: one record ends the session in all partitions.</summary>
    [Fact]
    public async Task End_of_a_session_deletes_ephemeral_nodes_everywhere()
    {
        await using var server = await StartAsync("/a", "/b");
        await using var client = await server.ConnectAsync();
        var told = new List<ServerEvent>();
        await using var watcher = await server.ConnectAsync(onEvent: told.Add);
        foreach (var path in (string[])["/a/lock", "/b/lock", "/lock"])
            await client.SendAsync(Create(path, "", CreateFlags.Ephemeral));
        Assert.Equal(["/a/lock", "/b/lock", "/lock"],
            (await client.SendAsync(new NodeRequest(OpCode.GetEphemerals, "/"))).Names.Order());
        await watcher.SendAsync(new WatchRequest(OpCode.AddWatch, "/", (int)WatchMode.Recursive));
        await client.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
        await watcher.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        Assert.Equal(["/a/lock", "/b/lock", "/lock"], told.Select(one => one.Path).Order());
        Assert.Single(told.Select(one => one.Zxid).Distinct());
    }

    [Fact]
    public async Task Partition_is_played_once_a_client_needs_data()
    {
        await using var server = await StartAsync("/a", "/b", "/c");
        await using var beside = await server.StartBesideAsync(static options => options with { Host = [] });
        await using var writer = await server.ConnectAsync();
        await writer.SendAsync(Create("/a/x", "1"));
        var told = new List<ServerEvent>();
        await using var client = await beside.ConnectAsync(onEvent: told.Add);
        Assert.Equal("1", System.Text.Encoding.UTF8.GetString(
            (await client.SendAsync(new NodeRequest(OpCode.GetData, "/a/x", Watch: true))).Data!));
        var sent = new[]
        {
            client.SendAsync(Create("/x", "1")), client.SendAsync(Create("/b/x", "1")),
            client.SendAsync(Create("/b/y", "1")),
        };
        var replies = await Task.WhenAll(sent);
        Assert.All(replies, static reply => Assert.Equal(ErrorCode.Ok, reply.Error));
        Assert.Equal(replies.Select(static reply => reply.Zxid).Order(), replies.Select(static reply => reply.Zxid));
        // A multi over partitions of which this front end has not played one.
        Assert.Equal(["/c/x", "/a/y"], (await client.SendAsync(Multi(
            (OpCode.Create, Op("/c/x")), (OpCode.Create, Op("/a/y"))))).Parts.Select(part => part.Path));
        await writer.SendAsync(Set("/a/x", "2"));
        await client.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        Assert.Equal("/a/x", Assert.Single(told).Path);
    }

    /// <summary>More than the checks of the log that an opening makes.</summary>
    public static TheoryData<int> Checks { get; } = [.. Enumerable.Range(1, 10)];

    /// <summary>The log is away while a partition is opened: the root partition does not answer in its place, where
    /// the node would be missing.</summary>
    [Theory]
    [MemberData(nameof(Checks))]
    public async Task Partition_of_which_the_opening_failed_is_opened_again(int failing)
    {
        var (checks, isOut) = (0, false);
        await using var server = await TestServer.StartAsync(new InMemoryLogOptions
        {
            BeforeCheck = _ => isOut && Interlocked.Increment(ref checks) >= failing
                ? throw new LogUnavailableException("No sequencer")
                : ValueTask.CompletedTask,
        });
        await server.MountAsync("/a");
        await server.ServeAsync();
        await using (var writer = await server.ConnectAsync())
            await writer.SendAsync(Create("/a/x", "1"));
        // No check but those of the client's request.
        await using var beside = await server.StartBesideAsync(static options => options with { Host = [] },
            ZooKeeperFrontEnd.RuntimeOptions with { IdlePlayback = null });
        await server.DisposeAsync();
        await using (var client = await beside.ConnectAsync())
        {
            isOut = true;
            await Assert.ThrowsAsync<ZooClientException>(async () =>
            {
                await client.SendAsync(new NodeRequest(OpCode.GetData, "/a/x"));
                while (true) await client.SendAsync(new NodeRequest(OpCode.Sync, "/"));
            });
        }

        isOut = false;
        await using var again = await beside.ConnectAsync();
        Assert.Equal(ErrorCode.Ok, (await again.SendAsync(new NodeRequest(OpCode.GetData, "/a/x"))).Error);
    }

    /// <summary>Events of the new partition would be missed until it is played here.</summary>
    [Fact]
    public async Task Mount_costs_clients_a_reconnect_and_no_session()
    {
        await using var server = await StartAsync();
        var client = await server.ConnectAsync();
        await using var _ = client;
        await client.SendAsync(Create("/lock", "", CreateFlags.Ephemeral));
        await server.MountAsync("/a");
        await Assert.ThrowsAsync<ZooClientException>(async () =>
        {
            while (true) await client.SendAsync(new NodeRequest(OpCode.Exists, "/"));
        });
        await using var again = await ReconnectAsync(server, client);
        Assert.Equal(ErrorCode.Ok, (await again.SendAsync(Create("/a/lock", "", CreateFlags.Ephemeral))).Error);
        Assert.Equal(ErrorCode.Ok, (await again.SendAsync(new NodeRequest(OpCode.Exists, "/lock"))).Error);
    }

    private static WriteRequest Set(string path, string data) =>
        new(OpCode.SetData, new SetDataOp(path, System.Text.Encoding.UTF8.GetBytes(data), -1));

    private static Task<TestServer> StartAsync(params string[] mounts) =>
        StartAsync(ZooKeeperFrontEnd.RuntimeOptions, mounts);

    private static async Task<TestServer> StartAsync(TangoOptions tango, params string[] mounts)
    {
        var server = await TestServer.StartAsync(tango: tango);
        foreach (var mount in mounts) await server.MountAsync(mount);
        await server.ServeAsync();
        return server;
    }

    private static async Task<ZooClient> ReconnectAsync(TestServer server, ZooClient client)
    {
        while (true)
        {
            try
            {
                return await server.ConnectAsync(new ConnectRequest(0, client.Session.Timeout, client.Session.Session,
                    client.Session.Password, ReadOnly: false));
            }
            catch (ZooClientException)
            {
                // The partition is not played yet.
            }
        }
    }
}
