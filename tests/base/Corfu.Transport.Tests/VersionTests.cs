using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests;

/// <summary>
/// A rolling upgrade on the wire: a synthetic next version has a field more in a request and in its answer, and an
/// opcode more. Nodes of both versions serve clients of both.
/// </summary>
public sealed class VersionTests
{
    private const Opcode Later = (Opcode)200;
    private const int None = -1;

    private static readonly WireProtocol Next = WireProtocol.Current.Next();

    private static readonly RequestTable s_nextRequests = new(static table =>
    {
        table.Add(Opcode.Read, ReadRequest.Read);
        table.Add(Opcode.ConfirmEpoch, LongerRequest.Read);
        table.Add(Later, static (epoch, ref _) => new LaterRequest(epoch), Next.Highest, AccessRole.Client);
    });

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task Nodes_of_both_versions_serve_clients_of_both(bool newNode, bool newClient)
    {
        var role = new BothRole();
        await using var server =
            await TestServer.StartAsync(
                new ServerTransportOptions { Protocol = newNode ? Next : WireProtocol.Current },
                requests: newNode ? s_nextRequests : null);
        server.Registry.Add(role);
        using var transport = new TcpTransport(
            new TcpTransportOptions
            {
                Cluster = TestServer.Cluster,
                Protocol = newClient ? Next : WireProtocol.Current
            });
        var to = server.AddressOf(role);
        var both = newNode && newClient;

        // A field at the end: who does not know it passes over it, who does not get it takes the default.
        if (newClient)
        {
            var answer = await transport.CallAsync(to, new LongerRequest(new Epoch(3), 7), default);
            Assert.Equal((Status.Ok, both ? 7 : None), (answer.Status, answer.Field));
        }
        else
        {
            Assert.Equal(Status.Ok,
                (await transport.CallAsync(to, new ConfirmEpochRequest(new Epoch(3)), default)).Status);
        }

        Assert.Equal(newNode ? newClient ? 7 : None : null, role.Field);

        // An opcode: only on a connection of the version that has it, and elsewhere an answer.
        var later = await transport.CallAsync(to, new LaterRequest(new Epoch(3)), default);
        Assert.Equal(both ? Status.Ok : Status.Unsupported, later.Status);

        // Everything else is as it was, on the same connection.
        var read = await transport.CallAsync(to, new ReadRequest(new Epoch(3), [new LogPosition(5)], ReadDetail.State),
            default);
        Assert.Equal(new LogPosition(5), read.Pages.Single().Position);
        Assert.Equal(1, server.Registry.ConnectionCount);
    }

    private sealed record LongerRequest(Epoch Epoch, int Field) : Request<LongerResponse>(Opcode.ConfirmEpoch, Epoch)
    {
        public override void WriteBody(ref WireWriter w) => w.Int32(Field);

        public static Request Read(Epoch epoch, ref WireReader r) =>
            new LongerRequest(epoch, r.Remaining > 0 ? r.Int32() : None);

        public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
            new LongerResponse(status, epoch, r.Remaining > 0 ? r.Int32() : None);

        public override Response Fail(Status status, Epoch epoch) => new LongerResponse(status, epoch, None);
    }

    private sealed record LongerResponse(Status Status, Epoch Epoch, int Field) : Response(Status, Epoch)
    {
        public override void WriteBody(ref WireWriter w) => w.Int32(Field);
    }

    private sealed record LaterRequest(Epoch Epoch) : AckRequest(Later, Epoch);

    private sealed class BothRole : IRoleHandler
    {
        public NodeRole Role => NodeRole.Unit;

        public NodeId Id { get; } = new(Guid.NewGuid());

        /// <summary>As the last request had it; null when none of this version came.</summary>
        public int? Field { get; private set; }

        public void Handle(Request request, ReplyTo reply)
        {
            if (request is LongerRequest longer) Field = longer.Field;
            reply.Send(request switch
            {
                LongerRequest l => new LongerResponse(Status.Ok, l.Epoch, l.Field),
                ReadRequest r =>
                    new ReadResponse(Status.Ok, r.Epoch,
                        [.. r.Positions.Select(p => new PageResult(p, PageState.Unwritten, false, default, default))]),
                _ => request.Fail(Status.Ok, request.Epoch),
            });
        }

        public void BatchEnd()
        {
        }
    }
}
