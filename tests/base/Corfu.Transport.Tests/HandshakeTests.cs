using System.Net.Sockets;
using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests;

public sealed class HandshakeTests
{
    [Fact]
    public async Task Golden_bytes_of_the_answer()
    {
        await using var server = await TestServer.StartAsync();
        server.Registry.Add(new EchoRole(new NodeId(new Guid("00112233-4455-6677-8899-aabbccddeeff"))));
        using var socket = await server.RawAsync();
        await socket.SendAsync(Wire.Hello(ClusterId.None, NodeId.None));
        var answer = await TestServer.ReceiveAsync(socket, 1000);
        var expected =
            "434F524655" + "0D0A1A" // magic
            + "0100" + "00" + "00" // version, status, zero
            + "23000000" // 18 + 17
            + "11111111222233334444555555555555" // cluster, in Guid's byte order
            + "0100" // one role
            + "01" + "33221100554477668899AABBCCDDEEFF";
        Assert.Equal(expected, Convert.ToHexString(answer));
    }

    [Fact]
    public void Later_fields_of_the_answer_are_passed_over()
    {
        var role = new RoleIdentity(NodeRole.Unit, new NodeId(Guid.NewGuid()));
        byte[] longer = [.. new Welcome(1, Status.Ok, new NodeDescription(TestServer.Cluster, [role])).Encode(), 1, 2,
            3];
        longer[12] += 3;
        Assert.Equal(longer.Length - Welcome.HeaderSize, Welcome.BodyLength(longer));
        Assert.Equal([role], Welcome.Decode(longer, longer.AsSpan(Welcome.HeaderSize)).Description.Roles);
    }

    [Fact]
    public async Task A_process_without_roles_describes_itself()
    {
        await using var server = await TestServer.StartAsync();
        using var transport = new TcpTransport();
        var description = await transport.DescribeAsync(server.Endpoint, default);
        Assert.Equal(TestServer.Cluster, description.Cluster);
        Assert.Empty(description.Roles);
    }

    [Fact]
    public async Task Description_lists_the_roles()
    {
        await using var server = await TestServer.StartAsync();
        var (a, b) = (server.AddEcho(), server.AddEcho());
        using var transport = new TcpTransport();
        var description = await transport.DescribeAsync(server.Endpoint, default);
        Assert.Equal(new[] { a.Id, b.Id }.Order(), description.Roles.Select(r => r.Id));
    }

    [Fact]
    public async Task Call_to_another_identity_is_refused_and_never_sent()
    {
        await using var server = await TestServer.StartAsync();
        server.AddEcho();
        using var transport = TestServer.Connect();
        var stranger = new NodeAddress(new NodeId(Guid.NewGuid()), server.Endpoint);
        var e =
            await Assert.ThrowsAsync<TransportException>(
                async () => await transport.CallAsync(stranger, new ConfirmEpochRequest(new Epoch(1)), default));
        Assert.False(e.OutcomeUnknown);
        Assert.Contains("identity", e.Message);
    }

    [Fact]
    public async Task Another_cluster_is_refused()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = new ClusterId(Guid.NewGuid()) });
        var e = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(server.AddressOf(echo), new ConfirmEpochRequest(new Epoch(1)),
                default));
        Assert.False(e.OutcomeUnknown);
        Assert.Contains("cluster", e.Message);
    }

    [Fact]
    public async Task Node_asked_without_a_cluster_describes_itself_and_serves_no_request()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var transport = new TcpTransport();
        Assert.Equal(TestServer.Cluster, (await transport.DescribeAsync(server.Endpoint, default)).Cluster);
        var e = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(server.AddressOf(echo), new ConfirmEpochRequest(new Epoch(1)),
                default));
        Assert.False(e.OutcomeUnknown);
        Assert.Equal(0, echo.Requests);
    }

    [Theory]
    [InlineData(9, 9, Status.Unsupported, 0)]
    [InlineData(0, 0, Status.Unsupported, 0)]
    [InlineData(1, 1, Status.Ok, 1)]
    [InlineData(1, 9, Status.Ok, WireProtocol.Version3)]
    public async Task Versions_settle_on_the_highest_known_to_both(int lowest, int highest, Status status, int settled)
    {
        await using var server = await TestServer.StartAsync();
        using var socket = await server.RawAsync();
        await socket.SendAsync(Wire.Hello(TestServer.Cluster, NodeId.None, (ushort)lowest, (ushort)highest));
        var answer = await TestServer.ReceiveAsync(socket, 1000);
        Assert.Equal((byte)status, answer[10]);
        if (status == Status.Ok) Assert.Equal(settled, answer[8]);
    }

    [Fact]
    public async Task Garbage_is_cut_off_and_the_port_goes_on()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync();
        await socket.SendAsync("GET / HTTP/1.1\r\nHost: here\r\nUser-Agent: somebody\r\n\r\n"u8.ToArray());
        Assert.Empty(await TestServer.ReceiveAsync(socket, 10));
        using var transport = TestServer.Connect();
        Assert.True(
            (await transport.CallAsync(server.AddressOf(echo), new ConfirmEpochRequest(new Epoch(1)), default)).IsOk);
    }

    [Fact]
    public async Task Nobody_there_is_a_certain_outcome()
    {
        using var transport = TestServer.Connect();
        using var taken = new Socket(SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 0));
        var port = ((System.Net.IPEndPoint)taken.LocalEndPoint!).Port;
        var nobody = new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", port));
        var e =
            await Assert.ThrowsAsync<TransportException>(
                async () => await transport.CallAsync(nobody, new ConfirmEpochRequest(new Epoch(1)), default));
        Assert.False(e.OutcomeUnknown);
    }

    [Fact]
    public async Task A_silent_newcomer_is_cut_off()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        using var socket = await server.RawAsync();
        await socket.SendAsync("CORFU"u8.ToArray());
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1);
        time.Advance(TimeSpan.FromSeconds(7));
        Assert.Empty(await TestServer.ReceiveAsync(socket, 10));
    }

    [Fact]
    public async Task Connections_beyond_the_limit_hear_so_and_are_closed()
    {
        await using var server = await TestServer.StartAsync(new ServerTransportOptions { MaxConnections = 1 });
        var echo = server.AddEcho();
        using var first = await server.RawAsync(echo);
        using var second = await server.RawAsync();
        await second.SendAsync(Wire.Hello(TestServer.Cluster, echo.Id));
        var answer = await TestServer.ReceiveAsync(second, 1000);
        Assert.Equal(Wire.WelcomeSize(1), answer.Length);
        Assert.Equal((byte)Status.Overloaded, answer[10]);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1);
    }
}
