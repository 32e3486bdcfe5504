using System.Text;
using Corfu.TestKit;
using Corfu.ZooKeeper.Hosting;
using Tango;
using Tango.Testing;
using static Corfu.ZooKeeper.Tests.Support.Ops;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>Executions that the rules of a front end prevent (docs/rules-zookeeper.md).</summary>
public sealed class RuleTests
{
    // Plays when it is asked.
    private static readonly TangoOptions s_idle =
        ZooKeeperFrontEnd.RuntimeOptions with { IdlePlayback = TimeSpan.FromHours(1) };

    /// <summary>Z4: the change comes right behind the read, and its effects are the next.</summary>
    [Fact]
    public async Task Watch_of_a_read_hears_the_next_change()
    {
        await using var server = await TestServer.StartAsync(tango: s_idle);
        var told = new List<ServerEvent>();
        await using var client = await server.ConnectAsync(onEvent: told.Add);
        await client.SendAsync(Create("/w", "1"));
        var read = client.SendAsync(new NodeRequest(OpCode.GetData, "/w", Watch: true));
        var set = client.SendAsync(new WriteRequest(OpCode.SetData, new SetDataOp("/w", [2], -1)));
        Assert.Equal("1", Encoding.UTF8.GetString((await read).Data!));
        Assert.Equal(ErrorCode.Ok, (await set).Error);
        Assert.Equal("/w", Assert.Single(told).Path);
    }

    /// <summary>Z5, Z6: the first write is lost, and nothing tells whether it is. A later one of the client would stand
    /// without it.</summary>
    [Fact]
    public async Task Write_in_doubt_has_no_reply_and_no_follower()
    {
        var fault = AppendFault.None;
        var appends = new Turnstile();
        await using var server = await TestServer.StartAsync(new InMemoryLogOptions
        {
            AroundAppend = appends.PassAsync,
            NextAppendFault = () => Interlocked.Exchange(ref fault, AppendFault.None),
        }, tango: ZooKeeperFrontEnd.RuntimeOptions with { MaxResolveAttempts = 0 });
        await using var client = await server.ConnectAsync();
        await using var other = await server.ConnectAsync();
        var waiting = appends.Shut();
        var first = client.SendAsync(Create("/first", "1"));
        await waiting;
        var second = client.SendAsync(Create("/second", "1"));
        while (!(await server.AskAsync("srvr")).Contains("Outstanding: 2\n", StringComparison.Ordinal))
            await Task.Yield();
        fault = AppendFault.LostAndUnknown;
        appends.Open();
        await Assert.ThrowsAsync<ZooClientException>(() => first);
        await Assert.ThrowsAsync<ZooClientException>(() => second);
        Assert.Equal("/later", (await other.SendAsync(Create("/later", "1"))).Path);
        Assert.Equal(ErrorCode.NoNode, (await other.SendAsync(new NodeRequest(OpCode.Exists, "/second"))).Error);
    }

    /// <summary>Z9: a front end does not see another's beats, for the log takes none.</summary>
    [Fact]
    public async Task Log_that_is_away_takes_no_front_end_for_dead()
    {
        var (time, appends) = (new ManualTime(), new Turnstile());
        await using var server = await TestServer.StartAsync(
            new InMemoryLogOptions { AroundAppend = appends.PassAsync }, time);
        await using var beside = await server.StartBesideAsync();
        await using var client = await beside.ConnectAsync();
        var waiting = appends.Shut();
        time.Advance(TimeSpan.FromSeconds(2));
        await waiting;
        time.Advance(TimeSpan.FromMinutes(2));
        appends.Open();
        await server.SettleAsync();
        var root = await server.ReadAsync();
        Assert.DoesNotContain(root.AllFrontEnds, row => row.IsDown);
        Assert.NotNull(root.FindSession(client.Session.Session));
    }

    /// <summary>Z11: the clients' pings lie in the sockets of a process that has stood still.</summary>
    [Fact]
    public async Task Sessions_outlive_a_pause_of_the_front_end()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        await using var client = await server.ConnectAsync();
        // Two beats, so that the clocks of sessions have begun.
        await BeatAsync(server, time);
        await BeatAsync(server, time);
        time.Jump(TimeSpan.FromMinutes(2));
        await using var later = await ConnectInTimeAsync(server, time);
        Assert.NotNull((await server.ReadAsync()).FindSession(client.Session.Session));
    }

    /// <summary>Z17: what the client has seen is not in the log of this front end.</summary>
    [Fact]
    public async Task Client_that_is_ahead_of_the_log_is_refused()
    {
        await using var server = await TestServer.StartAsync();
        await using var client = await server.ConnectAsync();
        var ahead = new ConnectRequest(
            long.MaxValue, client.Session.Timeout, client.Session.Session, client.Session.Password, ReadOnly: false);
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync(ahead));
    }

    /// <summary>Z18: the log is trimmed behind a checkpoint, with a change that the front end has not played.</summary>
    [Fact]
    public async Task Tree_that_is_loaded_anew_costs_all_clients_the_connection()
    {
        await using var server = await TestServer.StartAsync(tango: s_idle);
        await using var client = await server.ConnectAsync();
        await client.SendAsync(Create("/w", "1"));
        await client.SendAsync(new NodeRequest(OpCode.GetData, "/w", Watch: true));
        await server.OvertakeAsync(new SetDataOp("/w", [2], -1));
        Assert.Equal((byte[])[2], (await server.ReadAsync()).Find("/w")!.Data!.Value.ToArray());
        await Assert.ThrowsAsync<ZooClientException>(() => client.SendAsync(new NodeRequest(OpCode.Exists, "/w")));
    }

    /// <summary>Z20: the node's name is not for the watcher.</summary>
    [Fact]
    public async Task Watch_is_silent_about_a_node_without_the_right_to_read()
    {
        await using var server = await TestServer.StartAsync();
        var told = new List<ServerEvent>();
        await using var stranger = await server.ConnectAsync(onEvent: told.Add);
        await using var owner = await server.ConnectAsync();
        await owner.SendAsync(new AuthRequest("digest", [.. "user:secret"u8]));
        await stranger.SendAsync(new WatchRequest(OpCode.AddWatch, "/", (int)WatchMode.Recursive));
        await owner.SendAsync(new WriteRequest(OpCode.Create, Op("/secret") with
        {
            Acl = [new AclEntry(Permissions.All, "auth", "")],
        }));
        await owner.SendAsync(Create("/open", "1"));
        await stranger.SendAsync(new NodeRequest(OpCode.Sync, "/"));
        Assert.Equal(["/open"], told.Select(one => one.Path));
    }

    // A client that connects behind the front end's next beats: all that it sent before stands below.
    private static async Task<ZooClient> ConnectInTimeAsync(TestServer server, ManualTime time)
    {
        while (true)
        {
            await BeatAsync(server, time);
            try
            {
                return await server.ConnectAsync();
            }
            catch (ZooClientException)
            {
                // The front end does not serve yet.
            }
        }
    }

    private static async Task BeatAsync(TestServer server, ManualTime time)
    {
        for (var i = 0; i < 10; i++)
        {
            time.Advance(TimeSpan.FromMilliseconds(100));
            // Lets the front end's beat pass.
            await server.ReadAsync();
        }
    }
}
