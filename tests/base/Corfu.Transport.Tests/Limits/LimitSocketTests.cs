using System.Net;
using System.Net.Sockets;
using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests.Limits;

/// <summary>Limits over sockets. An address of 127/8 is an identity of its own, a certificate's here.</summary>
public sealed class LimitSocketTests
{
    private static readonly string[] s_addresses = ["127.0.0.1", "127.0.0.8", "127.0.0.9"];

    private static readonly ConfirmEpochRequest s_ping = new(new Epoch(1));

    [Fact]
    public async Task Connection_without_a_place_hears_that_the_process_is_overloaded()
    {
        await using var server = await StartAsync(new ServerTransportOptions { MaxIdentityConnections = 1 });
        var echo = server.AddEcho();
        using var first = await server.RawAsync(echo);
        using var transport = TestServer.Connect();
        var refused = await Assert.ThrowsAsync<TransportException>(
            () => transport.CallAsync(server.AddressOf(echo), s_ping, CancellationToken.None).AsTask());
        Assert.Equal((TransportFault.Overloaded, false), (refused.Fault, refused.OutcomeUnknown));
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1);
        Assert.Equal(0, echo.Requests);

        // Another identity has a place.
        using var other = await FromAsync(server, echo, "127.0.0.9");
        first.Dispose();
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1);
        await EventuallyAsync(() => transport.CallAsync(server.AddressOf(echo), s_ping, CancellationToken.None));
    }

    [Fact]
    public async Task Silent_connection_without_a_place_is_cut_off()
    {
        var time = new ManualTime();
        await using var server = await StartAsync(new ServerTransportOptions { MaxIdentityConnections = 1 }, time);
        var echo = server.AddEcho();
        using var first = await server.RawAsync(echo);
        using var silent = await server.RawAsync();
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 2);
        time.Advance(TimeSpan.FromSeconds(7));
        Assert.Empty(await TestServer.ReceiveAsync(silent, 10));
    }

    [Fact]
    public async Task Requests_beyond_the_share_of_an_identity_wait_and_other_identities_go_on()
    {
        await using var server = await StartAsync(
            new ServerTransportOptions { MaxSharedInFlight = 200, MinShare = 100 });
        var echo = server.AddEcho();
        echo.Hold = true;
        using var greedy = await server.RawAsync(echo);
        using var second = await server.RawAsync(echo);
        await SendAsync(greedy, 150);
        await Poll.UntilAsync(() => echo.HeldCount == 150);

        // Another identity halves the share: the greedy one has its floor on each connection, no more.
        using var modest = await FromAsync(server, echo, "127.0.0.9");
        await SendAsync(modest, 50);
        await Poll.UntilAsync(() => echo.HeldCount == 200);
        await SendAsync(second, 100);
        await Poll.UntilAsync(() => echo.HeldCount == 232);
        await SendAsync(modest, 50);
        await Poll.UntilAsync(() => echo.HeldCount == 282);
        Assert.Equal(282, echo.HeldCount);
        echo.Release(newestFirst: false);
        Assert.Equal(2000, (await TestServer.ReceiveAsync(second, 2000)).Length);
        Assert.Equal(2000, (await TestServer.ReceiveAsync(modest, 2000)).Length);
        Assert.Equal(0, s_addresses.Sum(a => server.Registry.Book.Find(a)?.Shares[echo.Id].InFlight ?? 0));
    }

    [Fact]
    public async Task Requests_of_connections_that_are_gone_count_until_answered()
    {
        await using var server = await StartAsync(
            new ServerTransportOptions { MaxSharedInFlight = 100, MinShare = 10 });
        var echo = server.AddEcho();
        echo.Hold = true;
        using (var gone = await server.RawAsync(echo))
        {
            // With one less than the share the connection is still read, and its end seen.
            await SendAsync(gone, 99);
            await Poll.UntilAsync(() => echo.HeldCount == 99);
        }

        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
        using var again = await server.RawAsync(echo);
        await SendAsync(again, 100);
        await Poll.UntilAsync(() => echo.HeldCount == 99 + 32);
        echo.Release(newestFirst: false);
        Assert.Equal(2000, (await TestServer.ReceiveAsync(again, 2000)).Length);
    }

    [Fact]
    public async Task Large_frame_waits_for_memory_and_small_frames_of_other_identities_do_not()
    {
        const int Size = 200_000;
        await using var server = await StartAsync(new ServerTransportOptions
        {
            MaxFrameBytes = Size + 1000,
            MaxIdentityFrameBytes = Size + 1000,
            ReservedFrameBytes = 0,
        });
        var echo = server.AddEcho();
        using var slow = await server.RawAsync(echo);
        using var second = await FromAsync(server, echo, "127.0.0.9");
        using var small = await FromAsync(server, echo, "127.0.0.8");
        var frame = Wire.Frame(1, new WriteRequest(new Epoch(1), new byte[Size]));
        await slow.SendAsync(frame.AsMemory(0, 100_000));
        await Poll.UntilAsync(() => FrameBytes(server) > 0);
        var held = FrameBytes(server);
        await second.SendAsync(frame.AsMemory(0, 100_000));
        await SendAsync(small, 1);
        Assert.Equal(20, (await TestServer.ReceiveAsync(small, 20)).Length);
        Assert.Equal(held, FrameBytes(server));

        await slow.SendAsync(frame.AsMemory(100_000));
        Assert.NotEmpty(await TestServer.ReceiveAsync(slow, 20));
        await second.SendAsync(frame.AsMemory(100_000));
        Assert.NotEmpty(await TestServer.ReceiveAsync(second, 20));
        // The answer leaves before its request is over.
        await Poll.UntilAsync(() => FrameBytes(server) == 0);
    }

    [Fact]
    public async Task Connection_that_ends_while_waiting_for_memory_holds_no_memory()
    {
        const int Size = 200_000;
        await using var server = await StartAsync(new ServerTransportOptions
        {
            MaxFrameBytes = Size + 1000,
            ReservedFrameBytes = 0,
        });
        var echo = server.AddEcho();
        var slow = await server.RawAsync(echo);
        var waiting = await FromAsync(server, echo, "127.0.0.9");
        var frame = Wire.Frame(1, new WriteRequest(new Epoch(1), new byte[Size]));
        await slow.SendAsync(frame.AsMemory(0, 100_000));
        await Poll.UntilAsync(() => FrameBytes(server) > 0);
        await waiting.SendAsync(frame.AsMemory(0, 100_000));
        Assert.True(server.Registry.Remove(echo.Id));
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
        slow.Dispose();
        waiting.Dispose();
        var next = server.AddEcho();
        using var after = await server.RawAsync(next);
        await after.SendAsync(frame);
        Assert.NotEmpty(await TestServer.ReceiveAsync(after, 20));
    }

    [Fact]
    public async Task Fullest_connection_is_cut_when_answers_of_an_identity_are_too_many()
    {
        await using var server = await StartAsync(new ServerTransportOptions
        {
            PauseReadingAt = 1 << 20,
            MaxOutputBuffer = 40 << 20,
            MaxIdentityOutput = 40 << 20,
        });
        var echo = server.AddEcho();
        echo.PageSize = 1 << 20;
        echo.Hold = true;
        using var more = await server.RawAsync(echo);
        using var less = await server.RawAsync(echo);
        using var other = await FromAsync(server, echo, "127.0.0.9");
        var read = Wire.Frame(1, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full));

        // More than sockets hold on their own.
        for (var i = 0; i < 40; i++) await more.SendAsync(read);
        await Poll.UntilAsync(() => echo.HeldCount == 40);
        for (var i = 0; i < 30; i++) await less.SendAsync(read);
        await Poll.UntilAsync(() => echo.HeldCount == 70);
        await SendAsync(other, 1);
        await Poll.UntilAsync(() => echo.HeldCount == 71);
        echo.Release(newestFirst: false);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 2);
        Assert.Equal(20, (await TestServer.ReceiveAsync(other, 20)).Length);
        Assert.Equal(30 << 20, (await TestServer.ReceiveAsync(less, 30 << 20)).Length);
        await Poll.UntilAsync(() => s_addresses.Sum(a => server.Registry.Book.Find(a)?.AnswerBytes ?? 0) == 0);
    }

    [Fact]
    public async Task Rate_of_an_identity_holds_back_reading()
    {
        var time = new ManualTime();
        await using var server = await StartAsync(new ServerTransportOptions
        {
            MaxRequestsPerSecond = 100,
            IdleTimeout = TimeSpan.FromDays(1),
        }, time);
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        await SendAsync(socket, 1000);
        Assert.Equal(2000, (await TestServer.ReceiveAsync(socket, 2000)).Length);
        using var other = await FromAsync(server, echo, "127.0.0.9");
        await SendAsync(other, 1);
        Assert.Equal(20, (await TestServer.ReceiveAsync(other, 20)).Length);
        Assert.InRange(echo.Requests, 101, 999);
        while (echo.Requests < 1001)
        {
            time.Advance(TimeSpan.FromSeconds(0.1));
            await Task.Delay(1);
        }
    }

    private static Task<TestServer> StartAsync(ServerTransportOptions options, TimeProvider? time = null) =>
        TestServer.StartAsync(options, time, principal: static address =>
            new Principal(AccessRole.Client, address) { Serial = "01" });

    private static long FrameBytes(TestServer server) =>
        s_addresses.Sum(a => server.Registry.Book.Find(a)?.FrameBytes ?? 0);

    private static async Task<Socket> FromAsync(TestServer server, IRoleHandler role, string address)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Bind(new IPEndPoint(IPAddress.Parse(address), 0));
        await socket.ConnectAsync(server.Endpoint.Host, server.Endpoint.Port);
        await socket.SendAsync(Wire.Hello(TestServer.Cluster, role.Id));
        var welcome = await TestServer.ReceiveAsync(socket, Wire.WelcomeSize(server.Registry.Describe().Roles.Length));
        Assert.Equal((byte)Status.Ok, welcome[10]);
        return socket;
    }

    private static async Task SendAsync(Socket socket, int requests) => await socket.SendAsync(
        Enumerable.Range(0, requests).SelectMany(i => Wire.Frame((uint)i, s_ping)).ToArray());

    private static async Task EventuallyAsync(Func<ValueTask<AckResponse>> call)
    {
        while (true)
        {
            try
            {
                await call();
                return;
            }
            catch (TransportException e) when (e.Fault is TransportFault.BackOff or TransportFault.Overloaded)
            {
                await Task.Yield();
            }
        }
    }
}
