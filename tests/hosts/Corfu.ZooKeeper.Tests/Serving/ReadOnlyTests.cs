using Corfu.TestKit;
using Corfu.ZooKeeper.Hosting;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>A front end that the log has left, and clients that only read.</summary>
public sealed class ReadOnlyTests
{
    [Fact]
    public async Task Clients_with_the_option_read_during_an_outage_of_the_log()
    {
        var time = new ManualTime();
        await using var server = await StartAsync(time);
        await using var before = await server.ConnectAsync();
        await before.SendAsync(Create("/a", "data"));
        time.Jump(TimeSpan.FromMinutes(1));
        Assert.Equal("rw", await server.AskAsync("isro"));
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync());
        Assert.Equal("ro", await server.AskAsync("isro"));
        Assert.Contains("Mode: read-only", await server.AskAsync("srvr"), StringComparison.Ordinal);
        await using var reader = await server.ConnectAsync(Ask(0));
        Assert.True(reader.Session.ReadOnly);
        Assert.Equal("data"u8.ToArray(), (await reader.SendAsync(new NodeRequest(OpCode.GetData, "/a"))).Data);
        ClientRequest[] refused =
        [
            Create("/b", ""),
            new WriteRequest(OpCode.Delete, new DeleteOp("/a", -1)),
            new NodeRequest(OpCode.Sync, "/"),
        ];
        foreach (var request in refused)
            Assert.Equal(ErrorCode.NotReadOnly, (await reader.SendAsync(request)).Error);
        Assert.Equal(
            ErrorCode.Ok, (await reader.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp()))).Error);
        await Assert.ThrowsAsync<ZooClientException>(() => reader.SendAsync(new NodeRequest(OpCode.Exists, "/a")));
    }

    [Fact]
    public async Task Readers_are_closed_when_the_log_is_back_and_may_write_then()
    {
        var time = new ManualTime();
        await using var server = await StartAsync(time);
        await using var before = await server.ConnectAsync();
        await StopServingAsync(server, time);
        await using var reader = await server.ConnectAsync(Ask(before.Session.Session, before.Session.Password));
        Assert.Equal((true, before.Session.Session), (reader.Session.ReadOnly, reader.Session.Session));
        while (server.Fault is not null)
        {
            time.Advance(TimeSpan.FromMilliseconds(100));
            await server.ReadAsync();
        }

        await Assert.ThrowsAsync<ZooClientException>(() => reader.SendAsync(new NodeRequest(OpCode.Exists, "/")));
        await using var after = await server.ConnectAsync(Ask(before.Session.Session, before.Session.Password));
        Assert.Equal((false, before.Session.Session), (after.Session.ReadOnly, after.Session.Session));
        Assert.Equal("/a", (await after.SendAsync(Create("/a", ""))).Path);
    }

    /// <summary>Z10: clients without the option, and those that claim a session, are not served.</summary>
    [Fact]
    public async Task Clients_without_the_option_or_the_password_get_no_answer()
    {
        var time = new ManualTime();
        await using var server = await StartAsync(time);
        await using var owner = await server.ConnectAsync();
        await StopServingAsync(server, time);
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync());
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync(Ask(owner.Session.Session)));
        await Assert.ThrowsAsync<ZooClientException>(
            () => server.ConnectAsync(Ask(0) with { LastZxidSeen = long.MaxValue }));
        // A session of another front end, which this one may not know yet.
        await using var stranger = await server.ConnectAsync(Ask(4711));
        Assert.Equal((true, 4711), (stranger.Session.ReadOnly, stranger.Session.Session));
    }

    /// <summary>The root partition has no node of another one, and must not be asked for it.</summary>
    [Fact]
    public async Task Read_of_a_partition_elsewhere_is_not_answered()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(
            time: time, configure: static own => own with { ReadOnly = true, Host = [] });
        await server.MountAsync("/a");
        await server.ServeAsync();
        await StopServingAsync(server, time);
        await using var reader = await server.ConnectAsync(Ask(0));
        Assert.Equal(ErrorCode.Ok, (await reader.SendAsync(new NodeRequest(OpCode.Exists, "/"))).Error);
        await Assert.ThrowsAsync<ZooClientException>(() => reader.SendAsync(new NodeRequest(OpCode.Exists, "/a")));
    }

    [Fact]
    public async Task Linearizable_reads_exclude_the_mode() =>
        await Assert.ThrowsAsync<ArgumentException>(() => TestServer.StartAsync(
            configure: own => own with { ReadOnly = true, Reads = ZooKeeperReads.Linearizable }));

    private static Task<TestServer> StartAsync(ManualTime time) =>
        TestServer.StartAsync(time: time, configure: own => own with { ReadOnly = true });

    // The first client behind the pause finds the lease gone.
    private static async Task StopServingAsync(TestServer server, ManualTime time)
    {
        time.Jump(TimeSpan.FromMinutes(1));
        await Assert.ThrowsAsync<ZooClientException>(() => server.ConnectAsync());
    }

    private static ConnectRequest Ask(long session, ImmutableArray<byte>? password = null) =>
        new(0, 10_000, session, password ?? [.. new byte[ConnectResponse.PasswordSize]], ReadOnly: true);
}
