using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using Corfu.Protocol;

namespace Corfu.Transport.Tests;

public sealed class TcpTransportTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));

    [Fact]
    public async Task Each_of_thousands_of_calls_in_flight_gets_the_right_answer()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        var calls = new Task<ReadResponse>[5000];
        for (var i = 0; i < calls.Length; i++)
            calls[i] = transport.CallAsync(to, new ReadRequest(new Epoch(1), [new LogPosition(i)], ReadDetail.Full),
                default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == calls.Length);
        echo.Release(newestFirst: true);
        var answers = await Task.WhenAll(calls);
        for (var i = 0; i < answers.Length; i++)
        {
            Assert.Equal(new LogPosition(i), answers[i].Pages[0].Position);
            Assert.All(answers[i].Pages[0].Bytes.ToArray(), b => Assert.Equal((byte)i, b));
        }

        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task Concurrent_callers_share_one_connection()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        await Task.WhenAll(Enumerable.Range(0, 64).Select(_ => Task.Run(async () =>
        {
            for (var i = 0; i < 200; i++)
                Assert.Equal(Status.Ok, (await transport.CallAsync(to, Ping, default)).Status);
        })));
        Assert.Equal(64 * 200, echo.Requests);
        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task Call_on_the_way_to_a_replaced_node_ends()
    {
        await using var server = await TestServer.StartAsync();
        var frozen = server.AddEcho();
        frozen.Hold = true;
        using var transport = TestServer.Connect();
        var to = server.AddressOf(frozen);
        var calls = Enumerable.Range(0, 3).Select(_ => transport.CallAsync(to, Ping, default).AsTask()).ToArray();
        await Poll.UntilAsync(() => frozen.HeldCount == calls.Length);
        transport.Drop(to);
        foreach (var call in calls)
        {
            var failure = await Assert.ThrowsAsync<TransportException>(() => call);
            Assert.True(failure.OutcomeUnknown);
            Assert.Equal(TransportFault.Lost, failure.Fault);
        }

        Assert.Equal(0, transport.ConnectionCount);
    }

    [Fact]
    public async Task Attempt_to_connect_to_a_replaced_node_ends()
    {
        // A frozen process's kernel takes connections, and the process never sends its welcome.
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        using var transport =
            new TcpTransport(new TcpTransportOptions
            {
                Cluster = TestServer.Cluster,
                ConnectTimeout = TimeSpan.FromMinutes(5)
            });
        var to = new NodeAddress(new NodeId(Guid.NewGuid()),
            new NodeEndpoint("127.0.0.1", ((IPEndPoint)listener.LocalEndPoint!).Port));
        var call = transport.CallAsync(to, Ping, default).AsTask();
        using var accepted = await listener.AcceptAsync(TestContext.Current.CancellationToken);
        transport.Drop(to);
        Assert.False((await Assert.ThrowsAsync<TransportException>(() => call)).OutcomeUnknown);
    }

    [Theory]
    [InlineData(1 << 20)]
    [InlineData(5 << 20)]
    public async Task Large_answers_and_requests(int size)
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.PageSize = size;
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        for (var round = 0; round < 3; round++)
        {
            var written = transport.CallAsync(to, new WriteRequest(new Epoch(1), new byte[size]), default).AsTask();
            var read = await transport.CallAsync(to,
                new ReadRequest(new Epoch(1), [new LogPosition(9)], ReadDetail.Full), default);
            Assert.Equal(size, read.Pages[0].Bytes.Length);
            Assert.Equal(-1, read.Pages[0].Bytes.Span.IndexOfAnyExcept((byte)9));
            Assert.True((await written).IsOk);
        }
    }

    [Fact]
    public async Task A_request_beyond_the_frame_limit_is_not_sent()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        await Assert.ThrowsAsync<EntryTooLargeException>(
            async () => await transport.CallAsync(to, new WriteRequest(new Epoch(1), new byte[MessageLimits.MaxFrame]),
                default));
        Assert.True((await transport.CallAsync(to, Ping, default)).IsOk);
    }

    [Fact]
    public async Task Lost_connection_fails_the_calls_in_flight_and_the_next_call_reconnects()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        var lost = Enumerable.Range(0, 10).Select(_ => transport.CallAsync(to, Ping, default).AsTask()).ToArray();
        await Poll.UntilAsync(() => echo.HeldCount == 10);
        server.Registry.Remove(echo.Id);
        foreach (var call in lost)
            Assert.True((await Assert.ThrowsAsync<TransportException>(() => call)).OutcomeUnknown);
        echo.Hold = false;
        server.Registry.Add(echo);
        Assert.True((await transport.CallAsync(to, Ping, default)).IsOk);
        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task Calls_after_a_failure_fail_at_once_until_the_back_off_is_over()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync();
        var echo = new EchoRole(new NodeId(Guid.NewGuid()));
        using var transport =
            new TcpTransport(new TcpTransportOptions
            {
                Cluster = TestServer.Cluster,
                FirstBackOff = TimeSpan.FromSeconds(10),
                MaxBackOff = TimeSpan.FromSeconds(10)
            }, time);
        var to = server.AddressOf(echo);
        await Assert.ThrowsAsync<TransportException>(async () => await transport.CallAsync(to, Ping, default));
        server.Registry.Add(echo);
        var e = await Assert.ThrowsAsync<TransportException>(async () => await transport.CallAsync(to, Ping, default));
        Assert.False(e.OutcomeUnknown);
        time.Advance(TimeSpan.FromSeconds(11));
        Assert.True((await transport.CallAsync(to, Ping, default)).IsOk);
    }

    [Fact]
    public async Task Missing_answer_is_an_unknown_outcome_and_a_late_one_does_no_harm()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport =
            new TcpTransport(new TcpTransportOptions
            {
                Cluster = TestServer.Cluster,
                RequestTimeout = TimeSpan.FromSeconds(8)
            }, time);
        var to = server.AddressOf(echo);
        echo.Hold = true;
        var slow = transport.CallAsync(to, Ping, default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 1);
        time.Advance(TimeSpan.FromSeconds(7));
        Assert.False(slow.IsCompleted);
        echo.Hold = false;
        Assert.True((await transport.CallAsync(to, Ping, default)).IsOk);
        time.Advance(TimeSpan.FromSeconds(3));
        Assert.True((await Assert.ThrowsAsync<TransportException>(() => slow)).OutcomeUnknown);
        echo.Release(newestFirst: false);
        for (var i = 0; i < 10; i++)
            Assert.Equal(new LogPosition(i),
                (await transport.CallAsync(to, new ReadRequest(new Epoch(1), [new LogPosition(i)], ReadDetail.Full),
                    default)).Pages[0].Position);
        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task A_connection_gone_silent_is_given_up()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport =
            new TcpTransport(new TcpTransportOptions
            {
                Cluster = TestServer.Cluster,
                RequestTimeout = TimeSpan.FromSeconds(8)
            }, time);
        echo.Hold = true;
        var call = transport.CallAsync(server.AddressOf(echo), Ping, default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 1);
        time.Advance(TimeSpan.FromSeconds(10));
        await Assert.ThrowsAsync<TransportException>(() => call);
        Assert.Equal(0, transport.ConnectionCount);
    }

    [Fact]
    public async Task An_idle_connection_is_closed_by_the_client_first()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = TestServer.Connect(time);
        await transport.CallAsync(server.AddressOf(echo), Ping, default);
        time.Advance(TimeSpan.FromMinutes(3));
        Assert.Equal(0, transport.ConnectionCount);
        Assert.True((await transport.CallAsync(server.AddressOf(echo), Ping, default)).IsOk);
    }

    [Fact]
    public async Task Cancellation_of_one_call_leaves_all_other_calls()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        using var source = new CancellationTokenSource();
        var cancelled = transport.CallAsync(to, Ping, source.Token).AsTask();
        var kept = transport.CallAsync(to, Ping, default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 2);
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        echo.Release(newestFirst: false);
        Assert.True((await kept).IsOk);
    }

    [Fact]
    public async Task Cancellation_racing_with_answers_never_mixes_calls_up()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = TestServer.Connect();
        var to = server.AddressOf(echo);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(worker => Task.Run(async () =>
        {
            for (var i = 0; i < 500; i++)
            {
                using var source = new CancellationTokenSource();
                var position = new LogPosition((worker * 1000) + i);
                var call = transport.CallAsync(to, new ReadRequest(new Epoch(1), [position], ReadDetail.State),
                    source.Token).AsTask();
                source.Cancel();
                try
                {
                    Assert.Equal(position, (await call).Pages[0].Position);
                }
                catch (OperationCanceledException)
                {
                    // The answer lost the race.
                }
            }
        })));
    }

    [Fact]
    public async Task Call_above_a_limit_of_the_client_fails_before_the_send()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport =
            new TcpTransport(new TcpTransportOptions { Cluster = TestServer.Cluster, MaxInFlight = 2 });
        var to = server.AddressOf(echo);
        var held = new[] { transport.CallAsync(to, Ping, default).AsTask(),
            transport.CallAsync(to, Ping, default).AsTask() };
        await Poll.UntilAsync(() => echo.HeldCount == 2);
        var refused = transport.CallAsync(to, Ping, default);
        Assert.True(refused.IsFaulted);
        Assert.False((await Assert.ThrowsAsync<TransportException>(async () => await refused)).OutcomeUnknown);
        echo.Release(newestFirst: false);
        await Task.WhenAll(held);
    }

    [Fact]
    public async Task A_damaged_answer_costs_the_connection()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var endpoint = new NodeEndpoint("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port);
        using var transport = TestServer.Connect();
        var call = transport.CallAsync(new NodeAddress(new NodeId(Guid.NewGuid()), endpoint), Ping, default).AsTask();
        using var peer = await listener.AcceptSocketAsync();
        await TestServer.ReceiveAsync(peer, Wire.HelloSize);
        await peer.SendAsync(
            Convert.FromHexString("434F5246550D0A1A" + "0100" + "0000" + "12000000" + "11111111222233334444555555555555"
                + "0000"));
        var request = await TestServer.ReceiveAsync(peer, 20);
        request[0] = request[1] = request[2] = request[3] = 0xff;
        await peer.SendAsync(request);
        Assert.True((await Assert.ThrowsAsync<TransportException>(() => call)).OutcomeUnknown);
        Assert.Empty(await TestServer.ReceiveAsync(peer, 1));
    }

    /// <summary>The receive loop copies pages and lets all other answers be decoded from its buffer: true only while no
    /// other holds memory.</summary>
    [Fact]
    public void Only_reads_answer_with_memory()
    {
        var holders = typeof(Response).Assembly.GetTypes()
            .Where(t => t.IsSubclassOf(typeof(Response)) && HoldsMemory(t, []))
            .Select(t => t.Name);
        Assert.Equal(["ReadResponse"], holders);
    }

    private static bool HoldsMemory(Type type, HashSet<Type> seen)
    {
        if (type == typeof(ReadOnlyMemory<byte>) || type == typeof(Memory<byte>)) return true;
        if (!seen.Add(type)) return false;
        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(ImmutableArray<>))
            return HoldsMemory(type.GetGenericArguments()[0], seen);
        return type.Assembly == typeof(Response).Assembly
            && type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)
                .Any(f => HoldsMemory(f.FieldType, seen));
    }

    [Fact]
    public async Task A_node_that_is_away_is_logged_once()
    {
        var log = new Lines();
        var options = new TcpTransportOptions
        {
            FirstBackOff = TimeSpan.FromMilliseconds(1),
            MaxBackOff = TimeSpan.FromMilliseconds(1)
        };
        using var transport = new TcpTransport(options, logger: log);
        NodeAddress away;
        await using (var server = await TestServer.StartAsync()) away = server.AddressOf(server.AddEcho());
        var attempts = 0;
        while (attempts < 20)
        {
            var fault =
                await Assert.ThrowsAsync<TransportException>(() => transport.CallAsync(away, Ping, default).AsTask());
            if (fault.Fault != TransportFault.BackOff) attempts++;
        }

        Assert.StartsWith($"Cannot connect to {away}", Assert.Single(log.Written), StringComparison.Ordinal);
    }
}
