using Corfu.Protocol;

namespace Corfu.Register.Tests;

public sealed class AcceptorTests
{
    private sealed class Connection
    {
        public List<(int Number, RegisterAnswer Answer)> Sent { get; } = [];
    }

    private sealed record Caller(Connection Connection, int Number) : IRegisterCaller
    {
        public void Answer(RegisterAnswer answer) => Connection.Sent.Add((Number, answer));

        public bool IsSameConnection(IRegisterCaller other) => ((Caller)other).Connection == Connection;
    }

    private sealed class BrokenCaller : IRegisterCaller
    {
        public void Answer(RegisterAnswer answer) => throw new InvalidOperationException("This caller is broken.");

        public bool IsSameConnection(IRegisterCaller other) => other == this;
    }

    private static void Send(Acceptor acceptor, Connection connection, int number, RegisterRequest request) =>
        acceptor.Handle(request, new Caller(connection, number));

    private static readonly PrepareBallot Prepare = new(new Epoch(1), Registers.Ballot(1));

    [Fact]
    public async Task Promise_is_answered_only_when_durable_and_so_is_every_answer_about_one()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var connection = new Connection();
        device.Gate = new TaskCompletionSource();
        Send(acceptor, connection, 1, Prepare);
        acceptor.BatchEnd();
        Send(acceptor, connection, 2, new ReadRegister(new Epoch(1)));
        acceptor.BatchEnd();
        Assert.Empty(connection.Sent);
        device.Gate.SetResult();
        Assert.Equal([1, 2], connection.Sent.Select(s => s.Number));
        Assert.All(connection.Sent, s => Assert.Equal(Status.Ok, s.Answer.Status));
    }

    [Fact]
    public async Task Requests_during_a_flush_share_the_next_one()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var before = device.Flushes;
        var connection = new Connection();
        var gate = device.Gate = new TaskCompletionSource();
        for (var i = 1; i <= 50; i++)
        {
            Send(acceptor, connection, i, new PrepareBallot(new Epoch(i), Registers.Ballot(1)));
            acceptor.BatchEnd();
        }

        gate.SetResult();
        Assert.Equal(50, connection.Sent.Count);
        Assert.Equal(2, device.Flushes - before);
    }

    /// <summary>R12: a failed fsync is never retried.</summary>
    [Fact]
    public async Task Failed_flush_is_failure_for_ever()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var connection = new Connection();
        device.FailFlush = true;
        Send(acceptor, connection, 1, Prepare);
        acceptor.BatchEnd();
        device.FailFlush = false;
        Send(acceptor, connection, 2, new ReadNewest());
        acceptor.BatchEnd();
        Assert.All(connection.Sent, s => Assert.Equal(Status.Failed, s.Answer.Status));
        Assert.Equal(2, connection.Sent.Count);
        Assert.IsType<IOException>(await acceptor.Fault);
    }

    [Fact]
    public async Task Full_disk_refuses_records_without_room_and_goes_on_when_there_is_room()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id, new AcceptorOptions { Reserve = 0 });
        var connection = new Connection();
        device.Capacity = 0;
        Send(acceptor, connection, 1, Prepare);
        acceptor.BatchEnd();
        Assert.Equal(Status.NoSpace, Assert.Single(connection.Sent).Answer.Status);
        Assert.False(acceptor.Fault.IsCompleted);
        device.Capacity = long.MaxValue;
        Send(acceptor, connection, 2, new ReadRegister(new Epoch(1)));
        acceptor.BatchEnd();
        Assert.Equal(Status.Ok, connection.Sent[^1].Answer.Status);
        // The first request's promise is durable when an answer reports it.
        var core = new AcceptorCore(new AcceptorOptions());
        await AcceptorLog.OpenAsync(device, core, new Registers.Owner());
        Assert.NotEmpty(core.Snapshot());
    }

    /// <summary>R12: the next generation is durable, so that what the old one takes from then on would be
    /// forgotten.</summary>
    [Fact]
    public async Task Disk_that_is_full_behind_the_flush_of_a_new_generation_ends_the_acceptor()
    {
        var device = new TestDevice();
        var options = new AcceptorOptions { Reserve = 32 << 10, CompactAfter = 1 };
        var connection = new Connection();
        await using (var acceptor = await Registers.OpenAsync(device, Registers.Id, options))
        {
            Send(acceptor, connection, 1, new PrepareBallot(new Epoch(1), Registers.Ballot(1)));
            acceptor.BatchEnd();
            device.BeforeFlush = () => device.IsFull = true;
            Send(acceptor, connection, 2, new PrepareBallot(new Epoch(1), Registers.Ballot(2)));
            acceptor.BatchEnd();
            device.BeforeFlush = null;
            device.IsFull = false;
            Send(acceptor, connection, 3, new PrepareBallot(new Epoch(1), Registers.Ballot(3)));
            acceptor.BatchEnd();
            Assert.Equal([Status.Ok, Status.Failed, Status.Failed], connection.Sent.Select(s => s.Answer.Status));
            Assert.IsType<IOException>(await acceptor.Fault);
        }

        await using var again = await Registers.OpenAsync(device.PowerCut(), options: options);
        Send(again, connection, 4, new PrepareBallot(new Epoch(1), Registers.Ballot(1)));
        again.BatchEnd();
        Assert.NotEqual(Status.Ok, connection.Sent[^1].Answer.Status);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Caller_that_cannot_take_an_answer_leaves_no_request_unanswered(bool isRefusal)
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var connection = new Connection();
        device.FailFlush = isRefusal;
        acceptor.Handle(Prepare, new BrokenCaller());
        Send(acceptor, connection, 1, Prepare);
        acceptor.BatchEnd();
        Assert.Single(connection.Sent);
        Assert.Equal(isRefusal, await acceptor.Fault is IOException);
    }

    [Fact]
    public async Task The_reserve_takes_votes_and_compactions_on_a_full_disk()
    {
        var device = new TestDevice();
        var options = new AcceptorOptions { Reserve = 32 << 10, CompactAfter = 4 << 10 };
        var connection = new Connection();
        await using (var acceptor = await Registers.OpenAsync(device, Registers.Id, options))
        {
            device.Capacity = 0;
            for (var round = 1; round <= 400; round++)
            {
                Send(acceptor, connection, round, new PrepareBallot(new Epoch(1), Registers.Ballot(round)));
                acceptor.BatchEnd();
            }

            Assert.All(connection.Sent, s => Assert.Equal(Status.Ok, s.Answer.Status));
            Assert.Equal(400, connection.Sent.Count);
        }

        await using var again = await Registers.OpenAsync(device, options: options);
        Send(again, connection, 500, new PrepareBallot(new Epoch(1), Registers.Ballot(399)));
        again.BatchEnd();
        Assert.NotEqual(Status.Ok, connection.Sent[^1].Answer.Status);
    }

    [Fact]
    public async Task Too_many_waiting_requests_are_refused()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id,
            new AcceptorOptions { MaxWaiting = 2 });
        var connection = new Connection();
        for (var i = 1; i <= 3; i++) Send(acceptor, connection, i, new ReadNewest());
        Assert.Equal((3, Status.Overloaded), (connection.Sent[0].Number, connection.Sent[0].Answer.Status));
        acceptor.BatchEnd();
        Assert.Equal([3, 1, 2], connection.Sent.Select(s => s.Number));
    }

    [Fact]
    public async Task Watcher_learns_a_decision_at_once_and_the_proposer_when_durable()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var connection = new Connection();
        Send(acceptor, connection, 1, new WatchNewest(Epoch.None));
        Send(acceptor, new Connection(), 2, new WatchNewest(new Epoch(1)));
        acceptor.BatchEnd();
        device.Gate = new TaskCompletionSource();
        Send(acceptor, connection, 3, new LearnDecision(Registers.Value(1)));
        acceptor.BatchEnd();
        Assert.Equal([1], connection.Sent.Select(s => s.Number));
        Assert.Equal(new Epoch(1), connection.Sent[0].Answer.Newest!.Slot);
        device.Gate.SetResult();
        Assert.Equal([1, 3], connection.Sent.Select(s => s.Number));

        // A projection that is known already is answered at once.
        Send(acceptor, connection, 4, new WatchNewest(Epoch.None));
        acceptor.BatchEnd();
        Assert.Equal(4, connection.Sent[^1].Number);
    }

    [Fact]
    public async Task Watchers_above_the_limit_are_answered_early_oldest_first()
    {
        var device = new TestDevice();
        var acceptor = await Registers.OpenAsync(device, Registers.Id, new AcceptorOptions { MaxWatchers = 2 });
        var connections = Enumerable.Range(0, 4).Select(_ => new Connection()).ToArray();
        foreach (var connection in connections)
        {
            Send(acceptor, connection, 1, new WatchNewest(Epoch.None));
            acceptor.BatchEnd();
        }

        Assert.Equal([1, 1, 0, 0], connections.Select(s => s.Sent.Count));
        Assert.All(connections[..2], s => Assert.Null(s.Sent[0].Answer.Newest));

        // The others hear that the acceptor has gone.
        await acceptor.DisposeAsync();
        Assert.Equal([Status.Failed, Status.Failed], connections[2..].Select(s => Assert.Single(s.Sent).Answer.Status));
    }

    [Fact]
    public async Task Newest_watch_of_a_connection_counts()
    {
        var device = new TestDevice();
        await using var acceptor = await Registers.OpenAsync(device, Registers.Id);
        var connection = new Connection();
        for (var i = 1; i <= 3; i++)
        {
            Send(acceptor, connection, i, new WatchNewest(Epoch.None));
            acceptor.BatchEnd();
        }

        Assert.Equal([1, 2], connection.Sent.Select(s => s.Number));
        Send(acceptor, connection, 4, new LearnDecision(Registers.Value(1)));
        acceptor.BatchEnd();
        Assert.Equal([1, 2, 3, 4], connection.Sent.Select(s => s.Number));
    }

    [Fact]
    public async Task Pruning_compacts_and_the_state_survives()
    {
        var device = new TestDevice();
        var options = new AcceptorOptions { KeptSlots = 4, Reserve = 0 };
        await using (var acceptor = await Registers.OpenAsync(device, Registers.Id, options))
        {
            var connection = new Connection();
            for (var i = 1; i <= 40; i++)
            {
                Send(acceptor, connection, i, new LearnDecision(Registers.Value(i, new string('x', 300))));
                acceptor.BatchEnd();
            }

            Assert.All(connection.Sent, s => Assert.Equal(Status.Ok, s.Answer.Status));
        }

        Assert.InRange(device.Area(0).Length + device.Area(1).Length, 1, 20 * 400);
        await using var again = await Registers.OpenAsync(device, options: options);
        Assert.Equal(new Epoch(40), again.Newest!.Slot);
    }

    [Fact]
    public async Task Another_clusters_log_is_refused()
    {
        var device = new TestDevice();
        await (await Registers.OpenAsync(device, Registers.Id)).DisposeAsync();
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(
            () => Acceptor.OpenAsync(device, new Registers.Owner(), new ClusterId(Guid.NewGuid())));
    }

    [Fact]
    public async Task The_identity_stays_whatever_a_restart_asks_for()
    {
        var device = new TestDevice();
        await (await Registers.OpenAsync(device, Registers.Id)).DisposeAsync();
        await using var again = await Registers.OpenAsync(device, Registers.Acceptor(1));
        Assert.Equal(Registers.Id, again.Id);
    }
}
