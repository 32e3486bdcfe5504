using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Net;
using Corfu.TestKit;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.Logging;
using Tango.Testing;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>Clients of front ends over a log in memory.</summary>
public sealed class FrontEndTests
{
    [Fact]
    public async Task Writes_and_reads_have_the_replies_of_ZooKeeper()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        Assert.Equal("/a", (await client.SendAsync(Create("/a", "one"))).Path);
        Assert.Equal(ErrorCode.NodeExists, (await client.SendAsync(Create("/a", "one"))).Error);
        var set = await client.SendAsync(new WriteRequest(OpCode.SetData, new SetDataOp("/a", [2], 0)));
        Assert.Equal(1, set.Stat!.Value.Version);
        Assert.Equal(set.Zxid, set.Stat.Value.Mzxid);
        var get = await client.SendAsync(new NodeRequest(OpCode.GetData, "/a"));
        Assert.Equal((byte[])[2], get.Data);
        Assert.Equal(set.Stat, get.Stat);
        Assert.Equal(["a", "zookeeper"],
            (await client.SendAsync(new NodeRequest(OpCode.GetChildren, "/"))).Names.Order());
        Assert.Equal(ErrorCode.Ok, (await client.SendAsync(Delete("/a"))).Error);
        Assert.Equal(ErrorCode.NoNode, (await client.SendAsync(new NodeRequest(OpCode.Exists, "/a"))).Error);
        Assert.Equal("/", (await client.SendAsync(new NodeRequest(OpCode.Sync, "/"))).Path);
    }

    [Fact]
    public async Task Requests_that_overlap_are_answered_in_order_and_reads_see_earlier_writes()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        var replies = new List<Task<ServerReply>>();
        for (var i = 0; i < 50; i++)
        {
            replies.Add(client.SendAsync(Create("/x", "data")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Exists, "/x")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Sync, "/x")));
            replies.Add(client.SendAsync(Delete("/x")));
            replies.Add(client.SendAsync(new NodeRequest(OpCode.Exists, "/x")));
        }

        var all = await Task.WhenAll(replies);
        Assert.Equal(all.Select(reply => reply.Zxid).Order(), all.Select(reply => reply.Zxid));
        for (var i = 0; i < all.Length; i++)
            Assert.Equal(i % 5 == 4 ? ErrorCode.NoNode : ErrorCode.Ok, all[i].Error);
    }

    [Fact]
    public async Task Multi_takes_effect_together_or_not_at_all()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        var failed = await client.SendAsync(Multi((OpCode.Create, Op("/m")), (OpCode.Check, new CheckOp("/m", 7))));
        Assert.Equal([ErrorCode.Ok, ErrorCode.BadVersion], failed.Parts.Select(part => part.Error));
        Assert.Equal(ErrorCode.NoNode, (await client.SendAsync(new NodeRequest(OpCode.Exists, "/m"))).Error);
        var done = await client.SendAsync(Multi((OpCode.Create, Op("/m")), (OpCode.Create2, Op("/m/n"))));
        Assert.Equal(["/m", "/m/n"], done.Parts.Select(part => part.Path));
        var exists = await client.SendAsync(new NodeRequest(OpCode.Exists, "/m/n"));
        Assert.Equal(done.Zxid, exists.Stat!.Value.Czxid);
    }

    [Fact]
    public async Task Event_of_a_watch_comes_once_and_before_the_reply_to_the_change()
    {
        await using var server = await TestServer.StartAsync();
        var told = new List<ServerEvent>();
        var replies = new List<int>();
        ZooClient? hearing = null;
        await using var client = await server.ConnectAsync(onEvent: one =>
        {
            told.Add(one);
            replies.Add(hearing!.Replies);
        });
        hearing = client;
        await client.SendAsync(new NodeRequest(OpCode.Exists, "/w", Watch: true));
        await client.SendAsync(new NodeRequest(OpCode.GetChildren, "/", Watch: true));
        var created = await client.SendAsync(Create("/w", "1"));
        Assert.Equal([(TreeChangeKind.Created, "/w"), (TreeChangeKind.ChildrenChanged, "/")],
            told.Select(one => (one.Kind, one.Path)));
        Assert.All(told, one => Assert.Equal(created.Zxid, one.Zxid));
        // Behind the replies to the two reads.
        Assert.Equal([2, 2], replies);
        await client.SendAsync(Delete("/w"));
        Assert.Equal(2, told.Count);
    }

    [Fact]
    public async Task Persistent_and_recursive_watches_stay_until_a_removal()
    {
        await using var server = await TestServer.StartAsync();
        var told = new List<ServerEvent>();
        await using var client = await server.ConnectAsync(onEvent: told.Add);
        await client.SendAsync(new WatchRequest(OpCode.AddWatch, "/", (int)WatchMode.Recursive));
        await client.SendAsync(Create("/r", "1"));
        await client.SendAsync(Create("/r/s", "1"));
        await client.SendAsync(Delete("/r/s"));
        Assert.Equal([(TreeChangeKind.Created, "/r"), (TreeChangeKind.Created, "/r/s"),
            (TreeChangeKind.Deleted, "/r/s")], told.Select(one => (one.Kind, one.Path)));
        var remove = new WatchRequest(OpCode.RemoveWatches, "/", (int)WatchKind.Any);
        Assert.Equal(ErrorCode.Ok, (await client.SendAsync(remove)).Error);
        Assert.Equal(ErrorCode.NoWatcher, (await client.SendAsync(remove)).Error);
        await client.SendAsync(Delete("/r"));
        Assert.Equal(3, told.Count);
    }

    [Fact]
    public async Task Session_moves_to_another_front_end_and_the_old_connection_is_closed()
    {
        await using var server = await TestServer.StartAsync();
        await using var other = await server.StartBesideAsync();
        await using var client = await server.ConnectAsync();
        var created = await client.SendAsync(Create("/e", "1", CreateFlags.Ephemeral));
        await using var moved = await other.ConnectAsync(Again(client.Session, created.Zxid));
        var exists = await moved.SendAsync(new NodeRequest(OpCode.Exists, "/e"));
        Assert.Equal(client.Session.Session, exists.Stat!.Value.EphemeralOwner);
        await Assert.ThrowsAsync<ZooClientException>(() => client.SendAsync(Create("/old", "1")));
        Assert.Equal(
            ErrorCode.Ok, (await moved.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()))).Error);
        await using var third = await server.ConnectAsync();
        await third.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        Assert.Equal(ErrorCode.NoNode, (await third.SendAsync(new NodeRequest(OpCode.Exists, "/e"))).Error);
        Assert.Equal(ErrorCode.NoNode, (await third.SendAsync(new NodeRequest(OpCode.Exists, "/old"))).Error);
    }

    [Fact]
    public async Task Watch_hears_of_a_change_at_another_front_end()
    {
        await using var server = await TestServer.StartAsync();
        await using var other = await server.StartBesideAsync();
        var told = new TaskCompletionSource<ServerEvent>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var watcher = await server.ConnectAsync(onEvent: told.SetResult);
        await using var writer = await other.ConnectAsync();
        await watcher.SendAsync(new NodeRequest(OpCode.Exists, "/far", Watch: true));
        var created = await writer.SendAsync(Create("/far", "1"));
        var heard = await told.Task;
        Assert.Equal((TreeChangeKind.Created, "/far", created.Zxid), (heard.Kind, heard.Path, heard.Zxid));
    }

    [Fact]
    public async Task Wrong_password_and_an_unknown_session_are_refused()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        var wrong = Again(client.Session, 0) with { Password = [.. new byte[16]] };
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync(wrong));
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync(wrong with { Session = 12345 }));
        Assert.Equal("/still", (await client.SendAsync(Create("/still", "1"))).Path);
    }

    [Fact]
    public async Task Credentials_open_nodes_for_later_requests()
    {
        await using var server = await TestServer.StartAsync();
        await using var owner = await server.ConnectAsync();
        var auth = new AuthRequest("digest", [.. "user:secret"u8]);
        // All at once: the create has what the credential proves.
        var proving = owner.SendAsync(auth);
        var creating = owner.SendAsync(new WriteRequest(OpCode.Create,
            new CreateOp("/mine", [1], [new AclEntry(Permissions.All, "auth", "")], CreateFlags.Persistent)));
        Assert.Equal(ErrorCode.Ok, (await proving).Error);
        Assert.Equal(ErrorCode.Ok, (await creating).Error);
        await using var stranger = await server.ConnectAsync();
        Assert.Equal(ErrorCode.NoAuth, (await stranger.SendAsync(new NodeRequest(OpCode.GetData, "/mine"))).Error);
        await stranger.SendAsync(auth);
        Assert.Equal((byte[])[1], (await stranger.SendAsync(new NodeRequest(OpCode.GetData, "/mine"))).Data);
        Assert.Equal(["ip", "digest"],
            (await stranger.SendAsync(new PlainRequest(OpCode.WhoAmI))).Ids.Select(id => id.Scheme));
    }

    [Fact]
    public async Task Pause_beyond_the_lease_closes_clients_without_an_answer()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        await using var client = await server.ConnectAsync();
        await client.SendAsync(Create("/p", "1"));
        Assert.Null(server.Fault);
        time.Jump(TimeSpan.FromSeconds(5));
        Assert.Equal("the log has confirmed no beat within the lease", server.Fault);
        await Assert.ThrowsAsync<ZooClientException>(() => client.SendAsync(new NodeRequest(OpCode.Exists, "/p")));
    }

    [Fact]
    public async Task Server_without_a_log_is_not_serving_and_takes_no_client()
    {
        using var figures = new Figures();
        await using var server = await ZooKeeperServer.StartAsync($"corfu://{TestPorts.Address()}", null,
            new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)) { Service = "away" });
        Assert.NotNull(server.Fault);
        Assert.Equal(["0"], figures.Values("corfu.zookeeper.serving", "away"));
        Assert.True(await RawClient.IsClosedAsync(server.EndPoint));
    }

    [Fact]
    public async Task End_of_a_front_end_has_no_warning()
    {
        using var lines = new Lines();
        await using (var server = await TestServer.StartAsync(configure: own => own with { Loggers = lines }))
        await using (await server.ConnectAsync()) Assert.Null(server.Fault);
        Assert.Contains(lines.All, line => line.Text == "The front end ends, and closes 1 connections"
            || line.Text == "The front end ends, and closes 0 connections");
        Assert.All(lines.All, line => Assert.True(line.Level < LogLevel.Warning, line.Text));
    }

    [Fact]
    public async Task Front_end_with_the_lowest_id_of_several_leads()
    {
        await using var server = await TestServer.StartAsync();
        Assert.Contains("\nMode: standalone\n", await server.AskAsync("srvr"), StringComparison.Ordinal);
        await using var other = await server.StartBesideAsync();
        // The view of the first has the record of the second.
        await using var client = await server.ConnectAsync();
        await client.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        var words = new[] { await server.AskAsync("mntr"), await other.AskAsync("mntr") };
        var leader = Assert.Single(words, text => text.Contains("zk_server_state\tleader\n", StringComparison.Ordinal));
        Assert.Contains("zk_synced_followers\t1\n", leader, StringComparison.Ordinal);
        Assert.Single(words, text => text.Contains("zk_server_state\tfollower\n", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Write_that_fits_into_no_entry_ends_the_connection_and_not_the_front_end()
    {
        await using var server = await TestServer.StartAsync(new InMemoryLogOptions { MaxPayload = 64 << 10 });
        await using var client = await server.ConnectAsync();
        // Behind a sync: the write is posted by playback.
        var syncing = client.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        var creating = client.SendAsync(Create("/large", new string('x', 100_000)));
        Assert.Equal(ErrorCode.Ok, (await syncing).Error);
        await Assert.ThrowsAsync<ZooClientException>(() => creating);
        await using var other = await server.ConnectAsync();
        Assert.Equal("/small", (await other.SendAsync(Create("/small", "1"))).Path);
        Assert.Equal(ErrorCode.NoNode, (await other.SendAsync(new NodeRequest(OpCode.Exists, "/large"))).Error);
    }

    [Fact]
    public async Task Word_is_answered_behind_the_last_byte_of_a_client()
    {
        await using var server = await TestServer.StartAsync();
        Assert.Equal("imok", await server.AskAsync("ruok"));
    }

    [Fact]
    public async Task Counts_of_requests_begin_anew_with_the_word_srst()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        // Behind the end of its session the client sends no pings either.
        await client.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
        Assert.DoesNotContain("Received: 0\n", await server.AskAsync("srvr"), StringComparison.Ordinal);
        Assert.Equal("Server stats reset.\n", await server.AskAsync("srst"));
        Assert.Contains("Received: 0\n", await server.AskAsync("srvr"), StringComparison.Ordinal);
    }

    /// <summary>The word's zeros were taken for numbers of requests: the sync waited for ever.</summary>
    [Fact]
    public async Task Sync_that_waits_is_answered_behind_the_word_crst()
    {
        var checks = new Turnstile();
        await using var server = await TestServer.StartAsync(
            new InMemoryLogOptions { BeforeCheck = checks.PassAsync });
        await using var client = await server.ConnectAsync();
        // More than the pings that the client sends within the bound below: they count too.
        for (var i = 0; i < 50; i++) await client.SendAsync(new NodeRequest(OpCode.Exists, "/"));
        var waiting = checks.Shut();
        var syncs = new[] { client.SendAsync(new NodeRequest(OpCode.Sync, "/")) };
        try
        {
            await waiting;
            syncs = [.. syncs, client.SendAsync(new NodeRequest(OpCode.Sync, "/"))];
            while (!(await server.AskAsync("srvr")).Contains("Outstanding: 2\n", StringComparison.Ordinal))
                await Task.Yield();
            await server.AskAsync("crst");
        }
        finally
        {
            checks.Open();
        }

        Assert.All(await Task.WhenAll(syncs).WaitAsync(TimeSpan.FromSeconds(30)),
            reply => Assert.Equal(ErrorCode.Ok, reply.Error));
    }

    [Fact]
    public async Task End_of_a_session_takes_effect_where_the_client_waits_for_no_reply()
    {
        var appends = new Turnstile();
        await using var server = await TestServer.StartAsync(
            new InMemoryLogOptions { AroundAppend = appends.PassAsync });
        await using var other = await server.ConnectAsync();
        var client = await server.ConnectAsync();
        await client.SendAsync(Create("/e", "1", CreateFlags.Ephemeral));
        // The end of the session waits behind an append.
        var waiting = appends.Shut();
        var before = other.SendAsync(Create("/before", "1"));
        try
        {
            await waiting;
            _ = client.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
            await client.DisposeAsync();
            while (!(await server.AskAsync("srvr")).Contains("Connections: 1\n", StringComparison.Ordinal))
                await Task.Yield();
        }
        finally
        {
            appends.Open();
        }

        await before;
        await other.SendAsync(Create("/later", "1"));
        Assert.Equal(ErrorCode.NoNode, (await other.SendAsync(new NodeRequest(OpCode.Exists, "/e"))).Error);
    }

    [Fact]
    public async Task Silent_session_ends_with_the_ephemeral_nodes()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var client = await server.ConnectAsync();
        await client.SendAsync(Create("/e", "1", CreateFlags.Ephemeral));
        await client.DisposeAsync();
        // A step is far below a beat: the reads let the front end's beats pass.
        var root = await server.ReadAsync();
        while (root.FindSession(client.Session.Session) is not null)
        {
            Assert.NotNull(root.Find("/e"));
            time.Advance(TimeSpan.FromMilliseconds(100));
            root = await server.ReadAsync();
        }

        Assert.Null(root.Find("/e"));
    }

    [Fact]
    public async Task Container_ends_behind_the_last_child_and_not_before_the_first()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        await using var client = await server.ConnectAsync();
        foreach (var path in (string[])["/used", "/new"])
        {
            var op = Op(path, "", CreateFlags.Container) with { Kind = CreateKind.Container };
            Assert.Equal(path, (await client.SendAsync(new WriteRequest(OpCode.CreateContainer, op))).Path);
        }

        await client.SendAsync(Create("/used/child", "1"));
        await client.SendAsync(Delete("/used/child"));
        var root = await server.ReadAsync();
        while (root.Find("/used") is not null)
        {
            time.Advance(TimeSpan.FromMilliseconds(100));
            root = await server.ReadAsync();
        }

        Assert.NotNull(root.Find("/new"));
    }

    [Fact]
    public async Task Connections_of_an_address_are_bounded()
    {
        await using var server = await TestServer.StartAsync(
            configure: own => own with { Limits = new ZooKeeperLimits { MaxConnectionsPerAddress = 2 } });
        var first = await server.ConnectAsync();
        await using var second = await server.ConnectAsync();
        Assert.True(await RawClient.IsClosedAsync(server.EndPoint));
        await first.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
        await first.DisposeAsync();
        await using var third = await server.ConnectAsync();
        Assert.Equal("/third", (await third.SendAsync(Create("/third", "1"))).Path);
    }

    [Fact]
    public async Task Meter_tells_requests_by_type_and_code_and_the_state_of_the_front_end()
    {
        var gathered = new ConcurrentQueue<(string Name, double Value, KeyValuePair<string, object?>[] Attributes)>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, own) =>
        {
            if (instrument.Meter.Name == FrontEndTelemetry.MeterName) own.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>(
            (instrument, value, attributes, _) => gathered.Enqueue((instrument.Name, value, attributes.ToArray())));
        listener.SetMeasurementEventCallback<long>(
            (instrument, value, attributes, _) => gathered.Enqueue((instrument.Name, value, attributes.ToArray())));
        listener.Start();
        await using var server = await TestServer.StartAsync(configure: own => own with { Service = "metered" });
        await using var client = await server.ConnectAsync();
        await client.SendAsync(Create("/t", "1"));
        await client.SendAsync(Create("/t", "1"));
        await client.SendAsync(new NodeRequest(OpCode.GetData, "/none"));
        await client.SendAsync(new NodeRequest(OpCode.Exists, "/t", Watch: true));
        listener.RecordObservableInstruments();

        Assert.All((string[])["Create Ok", "Create NodeExists", "GetData NoNode", "Exists Ok"], expected =>
            Assert.Contains(gathered, one => one.Name == "corfu.zookeeper.request.duration"
                && string.Join(' ', one.Attributes.Select(own => own.Value)) == expected));
        var service = new KeyValuePair<string, object?>("corfu.service", "metered");
        var state = gathered.Where(one => one.Attributes.Contains(service) && one.Attributes.Length == 1)
            .ToDictionary(one => one.Name["corfu.zookeeper.".Length..], one => one.Value);
        Assert.Equal(new Dictionary<string, double>
        { ["serving"] = 1, ["connection"] = 1, ["session"] = 1, ["node"] = 5, ["watch"] = 1 }, state);
    }

    private static ConnectRequest Again(ConnectResponse session, long zxid) =>
        new(zxid, session.Timeout, session.Session, session.Password, ReadOnly: false);
}
