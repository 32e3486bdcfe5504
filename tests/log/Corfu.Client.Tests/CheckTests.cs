using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Sequencer;

namespace Corfu.Client.Tests;

public class CheckTests
{
    private static readonly StreamId A = StreamId.FromName("a"), B = StreamId.FromName("b");

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    [Fact]
    public async Task A_check_sees_every_acknowledged_append_and_the_newest_of_each_stream()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (writer, reader) = (cluster.Client(), cluster.Client());
        var a = await writer.AppendAsync(Bytes("a"), [A]);
        var ab = await writer.AppendAsync(Bytes("ab"), [A, B]);
        var check = await reader.CheckAsync([B, A]);
        Assert.Equal(2, check.Tail.Offset);
        Assert.Equal(new StreamTail(B, [ab.Position]), check.Streams[0]);
        Assert.Equal(new StreamTail(A, [ab.Position, a.Position]), check.Streams[1]);
    }

    [Fact]
    public async Task Callers_share_the_next_check_that_starts_after_the_call()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { ChecksInFlight = 1 });
        var gate = new TaskCompletionSource();
        cluster.Transport.Trace = new();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TailRequest) await gate.Task;
            return Fault.None;
        };
        var first = client.CheckAsync([A]).AsTask();
        var others = Enumerable.Range(0, 50).Select(i => client.CheckAsync([i % 2 == 0 ? A : B]).AsTask()).ToList();
        gate.SetResult();
        await first;
        await Task.WhenAll(others);
        Assert.Equal(2, cluster.Transport.Trace.Count(t => t.Request is TailRequest));
        Assert.Equal(2, cluster.Transport.Trace.Count(t => t.Request is ConfirmEpochRequest));
    }

    [Fact]
    public async Task Answer_that_lacks_a_tail_fails_only_the_caller_that_needs_the_tail()
    {
        var batch = new CheckBatch();
        var (first, second) = (batch.TryAdd([A])!, batch.TryAdd([A, B])!);
        var answer = new TailResponse(Status.Ok, Epoch.First, new LogPosition(2), [new StreamTail(A, [])], 0, []);
        while (batch.TakeWaiter() is { } waiter) batch.Complete(waiter, answer, null);
        Assert.Equal(2, (await first.Task).Tail.Offset);
        await Assert.ThrowsAnyAsync<Exception>(() => second.Task.WaitAsync(TimeSpan.FromSeconds(20)));
    }

    [Fact]
    public async Task Another_round_begins_beside_rounds_under_way_only_for_as_many_callers()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { ChecksInFlight = 4 });
        var gate = new TaskCompletionSource();
        cluster.Transport.Trace = new();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TailRequest) await gate.Task;
            return Fault.None;
        };
        List<Task> callers = [];
        List<int> rounds = [];
        for (var i = 0; i < 9; i++)
        {
            callers.Add(client.CheckAsync([A]).AsTask());
            rounds.Add(cluster.Transport.Trace.Count(t => t.Request is TailRequest));
        }

        Assert.Equal([1, 2, 2, 3, 3, 3, 3, 4, 4], rounds);
        gate.SetResult();
        await Task.WhenAll(callers);
        Assert.Equal(5, cluster.Transport.Trace.Count(t => t.Request is TailRequest));
    }

    [Fact]
    public async Task Caller_that_blocks_at_completion_delays_neither_other_callers_nor_the_next_round()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { ChecksInFlight = 1 });
        var gate = new TaskCompletionSource();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TailRequest) await gate.Task;
            return Fault.None;
        };
        using var told = new SemaphoreSlim(0);
        var limit = TimeSpan.FromSeconds(20);

        // On the pool: in a context of its own no caller is completed inline.
        var callers = await Task.Run(() =>
        {
            var first = client.CheckAsync([A]).AsTask();
            var blocking = BlockAsync();
            var others = Enumerable.Range(0, 5).Select(_ => CheckTwiceAsync()).ToList();
            return Task.FromResult<List<Task>>([first, blocking, .. others]);
        }, TestContext.Current.CancellationToken);
        gate.SetResult();
        await Task.WhenAll(callers).WaitAsync(limit, TestContext.Current.CancellationToken);

        async Task BlockAsync()
        {
            await client.CheckAsync([A]);
            for (var i = 0; i < 5; i++) Assert.True(told.Wait(limit, TestContext.Current.CancellationToken));
        }

        async Task CheckTwiceAsync()
        {
            await client.CheckAsync([A]);
            await client.CheckAsync([A]);
            told.Release();
        }
    }

    [Fact]
    public async Task Caller_that_gives_up_leaves_the_check_to_all_other_callers()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { ChecksInFlight = 1 });
        var gate = new TaskCompletionSource();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TailRequest) await gate.Task;
            return Fault.None;
        };
        using var cancel = new CancellationTokenSource();
        var first = client.CheckAsync([A]).AsTask();
        var cancelled = client.CheckAsync([A], cancellationToken: cancel.Token).AsTask();
        var other = client.CheckAsync([A], cancellationToken: TestContext.Current.CancellationToken).AsTask();
        cancel.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.False(other.IsCompleted);
        gate.SetResult();
        await Task.WhenAll(first, other);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.CheckAsync([A], cancellationToken: cancel.Token).AsTask());
    }

    [Fact]
    public async Task A_replaced_sequencer_is_believed_by_a_session_but_not_by_a_linearizable_check()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        // No acceptor tells the first one.
        cluster.Transport.Faults = (_, request) => new(request is WatchRequest ? Fault.RequestLost : Fault.None);
        var (stale, fresh) = (cluster.Client(), cluster.Client());
        await stale.AppendAsync(Bytes("0"), [A]);
        var sequencer = cluster.AddSequencer();
        await fresh.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        for (var i = 1; i < 5; i++) await fresh.AppendAsync(Bytes($"{i}"), [A]);
        Assert.Equal(1, (await stale.CheckAsync([], ReadConsistency.Session)).Tail.Offset);
        var check = await stale.CheckAsync([A]);
        Assert.Equal(5, check.Tail.Offset);
        Assert.Equal(new Epoch(2), check.Tail.Epoch);
    }

    [Fact]
    public async Task Acceptors_confirm_the_epoch_with_a_silent_replica_in_every_chain()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2, acceptors: 3);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        var dead = cluster.Units[1];
        cluster.Transport.Faults = (to, _) => new(to == dead ? Fault.RequestLost : Fault.None);
        Assert.Equal(1, (await client.CheckAsync([A])).Tail.Offset);
    }

    [Fact]
    public async Task A_unit_with_damaged_headers_does_not_hold_up_a_hand_over()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var last = LogPosition.Zero;
        for (var i = 0; i < 5; i++) last = (await client.AppendAsync(Bytes($"{i}"), [A])).Position;
        var damaged = cluster.Units[(int)(last.Offset % 3)];
        cluster.Transport.Rewrite = (to, _, response) =>
            to == damaged && response is StreamTailsResponse tails
                ? tails with { Complete = false, Tails = [] }
                : response;
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        Assert.Equal(last, (await client.CheckAsync([A])).Streams[0].Positions[0]);
    }

    [Fact]
    public async Task R22_a_check_without_a_sequencer_knows_a_stream_of_which_all_is_trimmed()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var last = LogPosition.Zero;
        for (var i = 0; i < 5; i++) last = (await client.AppendAsync(Bytes($"{i}"), [A])).Position;
        await client.TrimPrefixAsync(last.Next);
        await client.AppendAsync(Bytes("b"), [B]);
        cluster.Transport.Stop(cluster.First.Sequencer.Id);
        Assert.Equal([4L, 3, 2, 1], (await client.CheckAsync([A])).Streams[0].Positions.Select(p => p.Offset));
        Assert.Empty((await client.CheckAsync([StreamId.FromName("none")])).Streams[0].Positions);
        var log = new StreamCursor(client, A);
        await log.SyncAsync();
        await Assert.ThrowsAsync<LogTrimmedException>(async () => await log.ReadNextAsync());
    }

    [Fact]
    public async Task A_check_without_a_sequencer_knows_the_streams_of_a_page_that_is_damaged_everywhere()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var last = LogPosition.Zero;
        for (var i = 0; i < 3; i++) last = (await client.AppendAsync(Bytes($"{i}"), [A])).Position;
        var damage = new Damage();
        cluster.Transport.Rewrite = damage.Rewrite;
        foreach (var unit in cluster.Units) damage.Add(unit, last);
        cluster.Transport.Stop(cluster.First.Sequencer.Id);
        Assert.Equal([2L, 1, 0], (await client.CheckAsync([A])).Streams[0].Positions.Select(p => p.Offset));
    }

    [Fact]
    public async Task A_check_without_a_sequencer_finds_the_tail_and_the_streams_at_the_units()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var first = await client.AppendAsync(Bytes("old"), [B]);
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        var second = await client.AppendAsync(Bytes("a"), [A]);
        var hole =
            (await cluster.Transport.CallAsync(sequencer, new TokenRequest(new Epoch(2), 1, [A]), default)).First;
        var third = await client.AppendAsync(Bytes("a"), [A]);
        cluster.Transport.Stop(sequencer.Id);
        var check = await client.CheckAsync([A, B]);
        Assert.Equal(third.Position.Next, check.Tail);
        Assert.Equal(new Epoch(2), check.Tail.Epoch);
        Assert.Equal([third.Position, hole, second.Position], check.Streams[0].Positions);
        Assert.Equal([first.Position], check.Streams[1].Positions);

        // A hole that was passed over can never become an entry of a stream behind the player's position.
        foreach (var unit in cluster.Units)
            Assert.NotEqual(PageState.Data, (await cluster.LookAsync(unit, hole)).State);
        Assert.Equal(PageState.Junk, (await client.ReadManyAsync([hole]))[0].State);
    }

    [Fact]
    public async Task Check_without_a_sequencer_needs_one_live_replica_of_every_chain()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var client = cluster.Client();
        for (var i = 0; i < 7; i++) await client.AppendAsync(Bytes("a"), [A]);
        cluster.Transport.Stop(cluster.First.Sequencer.Id);
        cluster.Transport.Stop(cluster.Units[1].Id);
        Assert.Equal(7, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Streams_beyond_one_message_are_checked_in_parts()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        StreamId[] streams =
            [.. Enumerable.Range(0, 9000).Select(i => new StreamId(StreamId.FirstRawValue + (ulong)i))];
        await client.AppendAsync(Bytes("0"), [streams[0], streams[^1]]);
        var check = await client.CheckAsync([.. streams]);
        Assert.Equal(9000, check.Streams.Length);
        Assert.Equal(streams[^1], check.Streams[^1].Stream);
        Assert.Equal(2, check.Streams.Count(s => s.Positions.Length == 1));
    }

    [Fact]
    public async Task A_slow_chain_does_not_hold_up_a_confirmation()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var never = new TaskCompletionSource();
        var stopped = cluster.Units[0];
        cluster.Transport.Faults = async (to, request) =>
        {
            if (to == stopped && request is ConfirmEpochRequest) await never.Task;
            return Fault.None;
        };
        Assert.Equal(0, (await client.CheckAsync([]).AsTask().WaitAsync(TimeSpan.FromSeconds(20))).Tail.Offset);
        never.SetResult();
    }

    [Fact]
    public async Task Unwritten_is_answered_only_under_a_confirmed_epoch()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (stale, fresh) = (cluster.Client(), cluster.Client());
        await fresh.AppendAsync(Bytes("0"), []);

        // The unit that the stale client would ask is cut off from the new epoch and goes on serving the old one.
        var removed = cluster.Units[1];
        cluster.Transport.Faults = (to, request) =>
            new(to == removed && request is SealRequest or InstallRequest && to == removed
                ? Fault.RequestLost
                : Fault.None);
        await fresh.Cluster.ReconfigureAsync(
            p => p.HasUnit(removed.Id) ? Membership.Of(p).Without(removed.Id) : null, "test");
        var appended = await fresh.AppendAsync(Bytes("1"), []);
        var next = await fresh.AppendAsync(Bytes("2"), []);
        var read = await stale.ReadManyAsync([appended.Position, next.Position], mode: ReadMode.Observe);
        Assert.Equal(["1", "2"], read.Select(r => Encoding.UTF8.GetString(r.Entry!.Payload.Span)));
    }

    [Fact]
    public async Task Check_of_more_streams_than_the_sequencer_holds_ends()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(200) });
        await client.AppendAsync(Bytes("0"), [A]);
        var small = cluster.AddSequencer(new SequencerOptions { MaxStreams = 1 });
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == small ? null : Membership.Of(p).WithSequencer(small), "test");
        await Assert.ThrowsAsync<LogUnavailableException>(
            () => client.CheckAsync([A, B]).AsTask().WaitAsync(TimeSpan.FromSeconds(10)));
        Assert.Single((await client.CheckAsync([A])).Streams[0].Positions);
    }
}
