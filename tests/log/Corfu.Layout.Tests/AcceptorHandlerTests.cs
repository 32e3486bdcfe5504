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

    private static void Send(AcceptorHandler handler, Sink sink, uint correlation, Request request) =>
        handler.Handle(request, new ReplyTo(sink, correlation, request.Opcode));

    private static readonly PrepareRequest Prepare = new(new Epoch(1), Setup.Ballot(1));

    [Fact]
    public async Task Promise_is_answered_only_when_durable_and_so_is_every_answer_about_one()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var sink = new Sink();
        device.Gate = new TaskCompletionSource();
        Send(handler, sink, 1, Prepare);
        handler.BatchEnd();
        Send(handler, sink, 2, new ReadSlotRequest(new Epoch(1)));
        handler.BatchEnd();
        Assert.Empty(sink.Sent);
        device.Gate.SetResult();
        Assert.Equal([1u, 2u], sink.Sent.Select(s => s.Correlation));
        Assert.All(sink.Sent, s => Assert.Equal(Status.Ok, s.Response.Status));
    }

    [Fact]
    public async Task Requests_during_a_flush_share_the_next_one()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var before = device.Flushes;
        var sink = new Sink();
        var gate = device.Gate = new TaskCompletionSource();
        for (var i = 1u; i <= 50; i++)
        {
            Send(handler, sink, i, new PrepareRequest(new Epoch(i), Setup.Ballot(1)));
            handler.BatchEnd();
        }

        gate.SetResult();
        Assert.Equal(50, sink.Sent.Count);
        Assert.Equal(2, device.Flushes - before);
    }

    [Fact]
    public async Task R2_a_projection_of_another_cluster_is_not_accepted()
    {
        await using var handler = await AcceptorHandler.OpenAsync(new TestDevice(), Setup.Cluster,
            Setup.Acceptor(0).Id);
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

    /// <summary>R12: a failed fsync is never retried.</summary>
    [Fact]
    public async Task Failed_flush_is_failure_for_ever()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var sink = new Sink();
        device.FailFlush = true;
        Send(handler, sink, 1, Prepare);
        handler.BatchEnd();
        device.FailFlush = false;
        Send(handler, sink, 2, new LatestRequest(Epoch.None));
        handler.BatchEnd();
        Assert.All(sink.Sent, s => Assert.Equal(Status.Failed, s.Response.Status));
        Assert.Equal(2, sink.Sent.Count);
        Assert.IsType<IOException>(await handler.Fault);
    }

    [Fact]
    public async Task Full_disk_refuses_records_without_room_and_goes_on_when_there_is_room()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id,
            new AcceptorOptions { Reserve = 0 });
        var sink = new Sink();
        device.Capacity = 0;
        Send(handler, sink, 1, Prepare);
        handler.BatchEnd();
        Assert.Equal(Status.NoSpace, Assert.Single(sink.Sent).Response.Status);
        Assert.False(handler.Fault.IsCompleted);
        device.Capacity = long.MaxValue;
        Send(handler, sink, 2, new ReadSlotRequest(new Epoch(1)));
        handler.BatchEnd();
        Assert.Equal(Status.Ok, sink.Sent[^1].Response.Status);
        // The first request's promise is durable when an answer reports it.
        var core = new AcceptorCore(new AcceptorOptions());
        await AcceptorLog.OpenAsync(device, core);
        Assert.NotEmpty(core.Snapshot());
    }

    [Fact]
    public async Task The_reserve_takes_votes_and_compactions_on_a_full_disk()
    {
        var device = new TestDevice();
        var options = new AcceptorOptions { Reserve = 32 << 10, CompactAfter = 4 << 10 };
        var sink = new Sink();
        await using (var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id,
            options))
        {
            device.Capacity = 0;
            for (var round = 1; round <= 400; round++)
            {
                Send(handler, sink, (uint)round, new PrepareRequest(new Epoch(1), Setup.Ballot(round)));
                handler.BatchEnd();
            }

            Assert.All(sink.Sent, s => Assert.Equal(Status.Ok, s.Response.Status));
            Assert.Equal(400, sink.Sent.Count);
        }

        await using var again = await AcceptorHandler.OpenAsync(device, Setup.Cluster, options: options);
        Send(again, sink, 500, new PrepareRequest(new Epoch(1), Setup.Ballot(399)));
        again.BatchEnd();
        Assert.NotEqual(Status.Ok, sink.Sent[^1].Response.Status);
    }

    [Fact]
    public async Task Too_many_waiting_requests_are_refused()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id,
            new AcceptorOptions { MaxWaiting = 2 });
        var sink = new Sink();
        for (var i = 1u; i <= 3; i++) Send(handler, sink, i, new LatestRequest(Epoch.None));
        Assert.Equal((3u, Status.Overloaded), (sink.Sent[0].Correlation, sink.Sent[0].Response.Status));
        handler.BatchEnd();
        Assert.Equal([3u, 1, 2], sink.Sent.Select(s => s.Correlation));
    }

    [Fact]
    public async Task Watcher_learns_a_decision_at_once_and_the_proposer_when_durable()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var sink = new Sink();
        Send(handler, sink, 1, new WatchRequest(Epoch.None));
        Send(handler, new Sink(), 2, new WatchRequest(new Epoch(1)));
        handler.BatchEnd();
        device.Gate = new TaskCompletionSource();
        Send(handler, sink, 3, new DecidedRequest(Setup.Projection(1)));
        handler.BatchEnd();
        Assert.Equal([1u], sink.Sent.Select(s => s.Correlation));
        Assert.Equal(new Epoch(1), ((LayoutResponse)sink.Sent[0].Response).Latest!.Epoch);
        device.Gate.SetResult();
        Assert.Equal([1u, 3u], sink.Sent.Select(s => s.Correlation));

        // A projection that is known already is answered at once.
        Send(handler, sink, 4, new WatchRequest(Epoch.None));
        handler.BatchEnd();
        Assert.Equal(4u, sink.Sent[^1].Correlation);
    }

    [Fact]
    public async Task Watchers_above_the_limit_are_answered_early_oldest_first()
    {
        var device = new TestDevice();
        var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id,
            new AcceptorOptions { MaxWatchers = 2 });
        var sinks = Enumerable.Range(0, 4).Select(_ => new Sink()).ToArray();
        foreach (var sink in sinks)
        {
            Send(handler, sink, 1, new WatchRequest(Epoch.None));
            handler.BatchEnd();
        }

        Assert.Equal([1, 1, 0, 0], sinks.Select(s => s.Sent.Count));
        Assert.All(sinks[..2], s => Assert.Null(((LayoutResponse)s.Sent[0].Response).Latest));

        // The others hear that the acceptor has gone.
        await handler.DisposeAsync();
        Assert.Equal([Status.Failed, Status.Failed], sinks[2..].Select(s => Assert.Single(s.Sent).Response.Status));
    }

    [Fact]
    public async Task Newest_watch_of_a_connection_counts()
    {
        var device = new TestDevice();
        await using var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
        var sink = new Sink();
        for (var i = 1u; i <= 3; i++)
        {
            Send(handler, sink, i, new WatchRequest(Epoch.None));
            handler.BatchEnd();
        }

        Assert.Equal([1u, 2u], sink.Sent.Select(s => s.Correlation));
        Send(handler, sink, 4, new DecidedRequest(Setup.Projection(1)));
        handler.BatchEnd();
        Assert.Equal([1u, 2u, 3u, 4u], sink.Sent.Select(s => s.Correlation));
    }

    [Fact]
    public async Task Pruning_compacts_and_the_state_survives()
    {
        var device = new TestDevice();
        var options = new AcceptorOptions { KeptSlots = 4, Reserve = 0 };
        await using (var handler = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id,
            options))
        {
            var sink = new Sink();
            for (var i = 1u; i <= 40; i++)
            {
                Send(handler, sink, i, new DecidedRequest(Setup.Projection(i)));
                handler.BatchEnd();
            }

            Assert.All(sink.Sent, s => Assert.Equal(Status.Ok, s.Response.Status));
        }

        Assert.InRange(device.Area(0).Length + device.Area(1).Length, 1, 20 * 400);
        await using var again = await AcceptorHandler.OpenAsync(device, Setup.Cluster, default, options);
        Assert.Equal(new Epoch(40), again.Latest!.Epoch);
    }

    [Fact]
    public async Task Another_clusters_log_is_refused()
    {
        var device = new TestDevice();
        await (await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id)).DisposeAsync();
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(
            () => AcceptorHandler.OpenAsync(device, new ClusterId(Guid.NewGuid())));
    }

    [Fact]
    public async Task The_identity_stays_whatever_a_restart_asks_for()
    {
        var device = new TestDevice();
        await (await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(0).Id)).DisposeAsync();
        await using var again = await AcceptorHandler.OpenAsync(device, Setup.Cluster, Setup.Acceptor(1).Id);
        Assert.Equal(Setup.Acceptor(0).Id, again.Id);
    }
}
