using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Layout.Tests;

public sealed class AcceptorHandlerTests
{
    private sealed class Sink : IReplySink
    {
        public List<(uint Correlation, Response Response)> Sent { get; } = [];

        public void Send(uint correlation, Opcode opcode, Response response) => Sent.Add((correlation, response));
    }

    private static readonly AcceptorOptions s_noReserve = new() { Reserve = 0 };

    private static Task<AcceptorHandler> OpenAsync(TestDevice device) =>
        AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id, s_noReserve);

    private static void Send(AcceptorHandler handler, Sink sink, uint correlation, Request request) =>
        handler.Handle(request, new ReplyTo(sink, correlation, request.Opcode));

    [Fact]
    public async Task R2_a_projection_of_another_cluster_is_not_accepted()
    {
        await using var handler = await OpenAsync(new TestDevice());
        var foreign = Setup.Of(new ClusterId(Guid.AllBitsSet), 1);
        var sink = new Sink();
        Send(handler, sink, 1, new AcceptRequest(Setup.Ballot(1), foreign));
        Send(handler, sink, 2, new DecidedRequest(foreign));
        handler.BatchEnd();
        Assert.Equal([Status.BadRequest, Status.BadRequest], sink.Sent.Select(s => s.Response.Status));
        Assert.Null(handler.Latest);
        Send(handler, sink, 3, new AcceptRequest(Setup.Ballot(1), Setup.Projection(1)));
        handler.BatchEnd();
        Assert.Equal(Status.Ok, sink.Sent[^1].Response.Status);
    }

    [Fact]
    public async Task Request_of_another_role_is_unsupported()
    {
        await using var handler = await OpenAsync(new TestDevice());
        var sink = new Sink();
        Send(handler, sink, 1, new ConfirmEpochRequest(new Epoch(1)));
        Assert.Equal(Status.Unsupported, Assert.Single(sink.Sent).Response.Status);
    }

    [Fact]
    public async Task Answers_carry_the_projections_that_were_stored()
    {
        await using var handler = await OpenAsync(new TestDevice());
        var (first, second) = (Setup.Projection(1), Setup.Projection(2, "voted for"));
        var sink = new Sink();
        Send(handler, sink, 1, new DecidedRequest(first));
        Send(handler, sink, 2, new AcceptRequest(Setup.Ballot(3), second));
        Send(handler, sink, 3, new LatestRequest(Epoch.None));
        Send(handler, sink, 4, new WatchRequest(Epoch.None));
        Send(handler, sink, 5, new PrepareRequest(new Epoch(2), Setup.Ballot(2)));
        handler.BatchEnd();
        var voted = new SlotState(new Epoch(2), Setup.Ballot(3), Setup.Ballot(3), second, false);
        Assert.Equal(new LayoutResponse(Status.Ok, new Epoch(1), voted, first), sink.Sent[2].Response);
        Assert.Equal(new LayoutResponse(Status.Ok, new Epoch(1), voted, first), sink.Sent[3].Response);
        Assert.Equal(new LayoutResponse(Status.Outbid, new Epoch(1), voted, first), sink.Sent[4].Response);
        Assert.Equal(first, handler.Latest);
    }

    [Fact]
    public async Task Newest_watch_of_a_connection_counts()
    {
        await using var handler = await OpenAsync(new TestDevice());
        var (sink, other) = (new Sink(), new Sink());
        Send(handler, sink, 1, new WatchRequest(Epoch.None));
        Send(handler, other, 1, new WatchRequest(Epoch.None));
        Send(handler, sink, 2, new WatchRequest(Epoch.None));
        handler.BatchEnd();
        Assert.Equal([1u], sink.Sent.Select(s => s.Correlation));
        Assert.Empty(other.Sent);
    }

    [Fact]
    public async Task Golden_bytes_of_stored_projections()
    {
        var device = new TestDevice();
        await using var handler = await OpenAsync(device);
        var formatted = device.Area(0).Length;
        var sink = new Sink();
        Send(handler, sink, 1, new PrepareRequest(new Epoch(3), Setup.Ballot(5)));
        Send(handler, sink, 2, new AcceptRequest(Setup.Ballot(5), Setup.Projection(3)));
        Send(handler, sink, 3, new DecidedRequest(Setup.Projection(2)));
        handler.BatchEnd();
        Assert.All(sink.Sent, s => Assert.Equal(Status.Ok, s.Response.Status));
        const string Ballot = "0500000000000000" + "00000000000000000000000000000001";
        Assert.EndsWith(
            "03000000"
            + "01" + "0300000000000000" + Ballot
            + "02" + Ballot + Bytes(Setup.Projection(3))
            + "03" + Bytes(Setup.Projection(2)),
            Convert.ToHexString(device.Area(0).AsSpan(formatted)));

        static string Bytes(Projection projection)
        {
            var bytes = ProjectionCodec.Encode(projection);
            return Convert.ToHexString([.. BitConverter.GetBytes(bytes.Length), .. bytes]);
        }
    }

    /// <summary>Version 1 of a projection lacks the mirror and the time; bytes alone would make it another value (R12).
    /// </summary>
    [Fact]
    public async Task Projection_stored_by_an_older_version_equals_the_one_that_is_told_again()
    {
        var device = new TestDevice();
        var projection = Setup.Projection(2);
        var now = ProjectionCodec.Encode(projection);
        byte[] older = [1, 0, .. now.AsSpan(2, 16), .. now.AsSpan(42)];
        Assert.Equal(projection, ProjectionCodec.Decode(older));
        await AcceptorLog.FormatAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var log = await AcceptorLog.OpenAsync(device, new AcceptorCore(), new ProjectionRegister());
        await log.AppendAsync([new DecidedRecord(new RegisterValue(new Epoch(2), older))]);

        await using var handler = await OpenAsync(device);
        var sink = new Sink();
        Send(handler, sink, 1, new DecidedRequest(projection));
        handler.BatchEnd();
        Assert.Equal(Status.Ok, Assert.Single(sink.Sent).Response.Status);
        Assert.Equal(projection, handler.Latest);
    }

    [Fact]
    public async Task Log_with_a_value_that_is_no_projection_is_damaged()
    {
        var device = new TestDevice();
        await AcceptorLog.FormatAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var log = await AcceptorLog.OpenAsync(device, new AcceptorCore(), new ProjectionRegister());
        await log.AppendAsync([new DecidedRecord(new RegisterValue(new Epoch(2), new byte[] { 1, 2, 3 }))]);
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(() => OpenAsync(device));
    }
}
