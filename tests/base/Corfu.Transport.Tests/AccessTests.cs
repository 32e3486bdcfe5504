using System.Buffers.Binary;
using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests;

/// <summary>The server's check of roles and opcodes. Without TLS a peer is a node, and may give up rights in its
/// handshake.</summary>
public sealed class AccessTests
{
    private static readonly SealRequest Seal = new(new Epoch(2));
    private static readonly BootstrapRequest Bootstrap = new(Sample());

    [Fact]
    public async Task Request_that_the_role_does_not_allow_is_denied_and_the_connection_stays()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var client = Connect(AccessRole.Client);
        Assert.Equal(Status.Denied, (await client.CallAsync(server.AddressOf(echo), Seal, default)).Status);
        Assert.Equal(0, echo.Requests);
        var allowed = await client.CallAsync(server.AddressOf(echo), new ConfirmEpochRequest(new Epoch(1)), default);
        Assert.Equal(Status.Ok, allowed.Status);
        Assert.Equal(1, server.Registry.ConnectionCount);
        Assert.Equal(1, client.ConnectionCount);
    }

    [Theory]
    [InlineData(AccessRole.Admin)]
    [InlineData(AccessRole.Node)]
    public async Task Request_that_the_role_allows_is_handled(AccessRole role)
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var client = Connect(role);
        Assert.Equal(Status.Ok, (await client.CallAsync(server.AddressOf(echo), Seal, default)).Status);
        Assert.Equal(Status.Ok, (await client.CallAsync(server.AddressOf(echo), Bootstrap, default)).Status);
    }

    [Fact]
    public async Task Body_of_a_denied_request_is_not_read()
    {
        await using var server = await TestServer.StartAsync();
        using var socket = await server.RawAsync();
        var hello = new byte[Hello.Size];
        var echo = server.AddEcho();
        new Hello(1, 1, TestServer.Cluster, echo.Id) { Role = AccessRole.Client }.Write(hello);
        await socket.SendAsync(hello);
        await TestServer.ReceiveAsync(socket, Wire.WelcomeSize(1));

        // A length of two billion stands where an accepted projection would.
        var frame = Wire.Frame(9, new AcceptRequest(new Ballot(1, Guid.NewGuid()), Sample()));
        frame.AsSpan(MessageCodec.HeaderSize).Fill(0x7F);
        await socket.SendAsync(frame);
        var answer = await TestServer.ReceiveAsync(socket, MessageCodec.HeaderSize);
        Assert.Equal((byte)Status.Denied, answer[17]);
        Assert.Equal(9u, BinaryPrimitives.ReadUInt32LittleEndian(answer.AsSpan(4)));
    }

    [Theory]
    [InlineData(Status.NotBootstrapped, 0)]
    [InlineData(Status.Denied, 0)]
    [InlineData(Status.Ok, 1)]
    public async Task Gate_judges_the_projections_of_clients(Status verdict, int handled)
    {
        await using var server = await TestServer.StartAsync();
        var gate = new Gate(verdict);
        server.Registry.Gate = gate;
        var echo = server.AddEcho();
        using var client = Connect(AccessRole.Client);
        var answer = await client.CallAsync(server.AddressOf(echo), Bootstrap, default);
        Assert.Equal(verdict, answer.Status);
        Assert.Equal(handled, echo.Requests);
        Assert.Equal([Bootstrap.Projection], gate.Judged);

        using var node = Connect(AccessRole.Node);
        Assert.Equal(Status.Ok, (await node.CallAsync(server.AddressOf(echo), Bootstrap, default)).Status);
        Assert.Single(gate.Judged);
    }

    [Fact]
    public async Task Process_without_a_gate_takes_no_projection_of_a_client()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var client = Connect(AccessRole.Client);
        Assert.Equal(Status.Denied, (await client.CallAsync(server.AddressOf(echo), Bootstrap, default)).Status);
        Assert.Equal(0, echo.Requests);
    }

    [Fact]
    public async Task Handshake_raises_no_role()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync();
        var hello = new byte[Hello.Size];
        new Hello(1, 1, TestServer.Cluster, echo.Id) { Role = (AccessRole)200 }.Write(hello);
        await socket.SendAsync(hello);
        Assert.Equal((byte)Status.Ok, (await TestServer.ReceiveAsync(socket, Wire.WelcomeSize(1)))[10]);
        await socket.SendAsync(Wire.Frame(1, Seal));
        var answer = await TestServer.ReceiveAsync(socket, MessageCodec.HeaderSize);
        Assert.Equal((byte)Status.Ok, answer[17]);
    }

    [Fact]
    public async Task Denials_are_reported_with_peer_opcode_and_count()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        List<Denial> told = [];
        server.Registry.Denied = told.Add;
        using var client = Connect(AccessRole.Client);
        for (var i = 0; i < 5; i++) await client.CallAsync(server.AddressOf(echo), Seal, default);
        time.Advance(TimeSpan.FromSeconds(1));
        await client.CallAsync(server.AddressOf(echo), new PrepareRequest(new Epoch(1), default), default);
        time.Advance(TimeSpan.FromSeconds(10));
        await client.CallAsync(server.AddressOf(echo), Seal, default);
        Assert.Equal([(Opcode.Seal, 1L), (Opcode.Prepare, 1L), (Opcode.Seal, 5L)],
            told.Select(denial => (denial.Opcode, denial.Count)));
        Assert.All(told, denial => Assert.Equal(new Principal(AccessRole.Client, "127.0.0.1"), denial.Peer));
    }

    [Fact]
    public void Peers_beyond_the_limit_of_reports_share_one()
    {
        var limit = new DenialLimit(new ManualTime());
        var told = Enumerable.Range(0, DenialLimit.MaxEntries * 2)
            .Select(i => limit.Admit(new Principal(AccessRole.Client, $"c{i}"), Opcode.Seal))
            .Count(denial => denial is not null);
        Assert.Equal(DenialLimit.MaxEntries + 1, told);
    }

    private static TcpTransport Connect(AccessRole role) =>
        new(new TcpTransportOptions { Cluster = TestServer.Cluster, Role = role });

    private static Projection Sample()
    {
        var unit = new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 1));
        return new Projection(TestServer.Cluster, Epoch.First, unit, LogPosition.Zero, LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])], [unit], [unit], "a test");
    }

    private sealed class Gate(Status verdict) : IRequestGate
    {
        public List<Projection> Judged { get; } = [];

        public Status Judge(Request request)
        {
            Judged.Add(((BootstrapRequest)request).Projection);
            return verdict;
        }
    }
}
