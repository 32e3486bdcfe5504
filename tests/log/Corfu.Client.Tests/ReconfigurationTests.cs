using System.Collections.Concurrent;
using System.Text;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class ReconfigurationTests
{
    private static readonly StreamId A = StreamId.FromName("a");

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static Task<Projection> ReplaceSequencerAsync(TestCluster cluster, CorfuClient client)
    {
        var sequencer = cluster.AddSequencer();
        return client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "sequencer");
    }

    private static async Task<List<string>> PlayAsync(CorfuClient client)
    {
        var stream = new StreamCursor(client, A);
        await stream.SyncAsync();
        var played = new List<string>();
        while (await stream.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        return played;
    }

    [Fact]
    public async Task A_replaced_sequencer_goes_on_where_the_log_ends_and_streams_stay_whole()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (one, two) = (cluster.Client(), cluster.Client());
        for (var i = 0; i < 20; i++) await one.AppendAsync(Bytes($"{i}"), i % 2 == 0 ? [A] : []);
        cluster.Transport.Stop(cluster.First.Sequencer.Id);
        var projection = await ReplaceSequencerAsync(cluster, one);
        Assert.Equal(new Epoch(2), projection.Epoch);
        Assert.Equal(20, projection.Start.Offset);

        // R7: what the new incarnation knows of the stream was handed over from the units.
        for (var i = 20; i < 30; i++) await two.AppendAsync(Bytes($"{i}"), i % 2 == 0 ? [A] : []);
        Assert.Equal(Enumerable.Range(0, 15).Select(i => $"{2 * i}"), await PlayAsync(one));
    }

    [Fact]
    public async Task Streams_that_a_new_sequencer_meets_at_once_are_handed_over_together()
    {
        const int count = 20;
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        StreamId[] streams =
            [.. Enumerable.Range(0, count).Select(i => new StreamId(StreamId.FirstRawValue + (ulong)i))];
        foreach (var stream in streams) await client.AppendAsync(Bytes("old"), [stream]);
        await ReplaceSequencerAsync(cluster, client);
        var allRefused = new TaskCompletionSource();
        var (refused, handOvers) = (0, 0);
        cluster.Transport.Rewrite = (_, _, response) =>
        {
            if (response is TokenResponse { Status: Status.UnknownStream }
                && Interlocked.Increment(ref refused) == count) allRefused.SetResult();
            return response;
        };
        cluster.Transport.Faults = async (_, request) =>
        {
            // The first one is under way for as long as the others need to come.
            if (request is LoadStreamsRequest && Interlocked.Increment(ref handOvers) == 1) await allRefused.Task;
            return Fault.None;
        };
        var results = await Task.WhenAll(streams.Select(stream => client.AppendAsync(Bytes("new"), [stream]).AsTask()));
        Assert.All(results, result => Assert.Equal(new Epoch(2), result.Position.Epoch));

        // How many share the first one depends on when they are answered; one for each stream it never is.
        Assert.InRange(handOvers, 1, count / 2);
        foreach (var stream in streams)
        {
            var log = new StreamCursor(client, stream);
            await log.SyncAsync();
            Assert.Equal("old", Encoding.UTF8.GetString((await log.ReadNextAsync())!.Payload.Span));
            Assert.Equal("new", Encoding.UTF8.GetString((await log.ReadNextAsync())!.Payload.Span));
            Assert.Null(await log.ReadNextAsync());
        }
    }

    [Fact]
    public async Task Append_under_way_to_a_frozen_unit_ends_with_the_epoch_that_drops_the_unit()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var writer = cluster.Client();
        var frozen = cluster.Units[0];
        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var dropped = new TaskCompletionSource<Fault>(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Dropped = node => Assert.True(node == frozen && dropped.TrySetResult(Fault.RequestLost));
        cluster.Transport.Faults = async (node, request) =>
        {
            if (node != frozen) return Fault.None;
            if (request is WriteRequest) stuck.TrySetResult();
            return request is WriteRequest ? await dropped.Task : Fault.RequestLost;
        };
        var append = writer.AppendAsync(Bytes("caught"), []).AsTask();
        await stuck.Task;
        Assert.False(append.IsCompleted);
        await cluster.Reconfigurer()
            .ReconfigureAsync(cluster.First, p => p.HasUnit(frozen.Id) ? Membership.Of(p).Without(frozen.Id) : null,
                "frozen");
        await writer.Cluster.RefreshAsync();
        var result = await append;
        Assert.True(result.IsAppended);
        Assert.Equal(new Epoch(2), result.Position.Epoch);
    }

    [Fact]
    public async Task A_client_that_waits_learns_of_a_new_epoch_without_asking_again()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (writer, other) =
            (cluster.Client(TestCluster.Options with
            {
                RefreshInterval = TimeSpan.FromMinutes(1),
                RetryDelay = TimeSpan.FromMinutes(1),
                MaxRetryDelay = TimeSpan.FromMinutes(1)
            }), cluster.Client());
        var watching = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is WatchRequest) watching.TrySetResult();
            return new(Fault.None);
        };
        cluster.Transport.Stop(cluster.First.Sequencer.Id);
        var append = writer.AppendAsync(Bytes("waits"), []).AsTask();
        await watching.Task;
        await ReplaceSequencerAsync(cluster, other);
        Assert.True((await append).IsAppended);
    }

    /// <summary>Nodes may deny a client for a while, such as those that map its certificate to another role.</summary>
    [Fact]
    public async Task Watch_that_was_denied_is_asked_again()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (client, other) = (cluster.Client(), cluster.Client());
        var denied = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Answer = request =>
        {
            if (request is not WatchRequest) return null;
            denied.TrySetResult();
            return request.Fail(Status.Denied, Epoch.None);
        };
        Assert.True((await client.AppendAsync(Bytes("watches"), [])).IsAppended);
        await denied.Task;
        cluster.Transport.Answer = null;
        var next = await ReplaceSequencerAsync(cluster, other);

        // The client does nothing: a watch alone tells it.
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        while (client.Projection.Epoch < next.Epoch) await Task.Delay(5, limit.Token);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1, false)]
    public async Task R13_denied_seal_ends_only_a_round_that_needs_the_unit(int number, bool isNeeded)
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (denying, leaves) = (cluster.Units[number], cluster.Units[1]);
        var denied = new TaskCompletionSource<Fault>(TaskCreationOptions.RunContinuationsAsynchronously);

        // The others answer later.
        cluster.Transport.Faults = (to, request) =>
            request is SealRequest && to != denying ? new(denied.Task) : new(Fault.None);
        cluster.Transport.Rewrite = (to, request, answer) =>
        {
            if (request is not SealRequest || to != denying) return answer;
            denied.TrySetResult(Fault.None);
            return request.Fail(Status.Denied, Epoch.None);
        };
        var change = cluster.Reconfigurer().ReconfigureAsync(cluster.First,
            p => p.HasUnit(leaves.Id) ? Membership.Of(p).Without(leaves.Id) : null, "leaves");
        if (isNeeded) await Assert.ThrowsAsync<CorfuDeniedException>(() => change);
        else Assert.Equal(new Epoch(2), (await change).Epoch);
    }

    [Fact]
    public async Task Write_that_meets_a_seal_sends_no_further_request_in_the_old_epoch()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (writer, other) = (cluster.Client(), cluster.Client());
        var (arrived, isSealed) = (new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously),
            new TaskCompletionSource<Fault>(TaskCreationOptions.RunContinuationsAsynchronously));
        var reads = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            // Without watches, the writer learns of the next epoch by the seal first.
            if (request is WatchRequest) return Fault.RequestLost;
            if (request is ReadRequest && request.Epoch == Epoch.First) Interlocked.Increment(ref reads);
            if (request is not WriteRequest || request.Epoch != Epoch.First) return Fault.None;
            arrived.TrySetResult();
            return await isSealed.Task;
        };
        var append = writer.AppendAsync(Bytes("late"), []).AsTask();
        await arrived.Task;
        await ReplaceSequencerAsync(cluster, other);
        Assert.Equal(Epoch.First, writer.Projection.Epoch);
        isSealed.SetResult(Fault.None);
        var result = await append;
        Assert.True(result.IsAppended);
        Assert.Equal((new Epoch(2), 0), (result.Position.Epoch, reads));
    }

    /// <summary>
    /// Found by the simulator: what was left of the round, less than a millisecond, was no delay at all, and the wait
    /// for the seals a loop that held its thread (and, where the clock is virtual, for ever).
    /// </summary>
    [Fact]
    public async Task The_wait_for_seals_ends_though_less_than_a_millisecond_is_left()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var never = new TaskCompletionSource<Fault>(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = (_, request) => request is SealRequest ? new(never.Task) : new(Fault.None);
        var options = TestCluster.Options.Reconfiguration with { RoundTimeout = TimeSpan.FromMilliseconds(300.4) };
        var reconfigurer = cluster.Reconfigurer(new JumpingTime(most: 20), options);
        await Assert.ThrowsAsync<ReconfigurationException>(
            () => reconfigurer.ReconfigureAsync(cluster.First, p => Membership.Of(p).Without(cluster.Units[0].Id),
                "silent"));
    }

    [Fact]
    public async Task R9_an_append_caught_by_a_reconfiguration_is_completed_from_the_head()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (writer, other) = (cluster.Client(), cluster.Client());
        Task<Projection>? change = null;
        var writes = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest && ++writes == 2) await (change = ReplaceSequencerAsync(cluster, other));
            return Fault.None;
        };
        var result = await writer.AppendAsync(Bytes("caught"), [A]);
        Assert.True(result.IsAppended);
        Assert.Equal(0, result.Position.Offset);
        Assert.Equal(1, (await change!).Start.Offset);
        Assert.Equal(["caught"], await PlayAsync(other));
        foreach (var unit in cluster.Units)
            Assert.Equal(PageState.Data, (await cluster.LookAsync(unit, result.Position)).State);
    }

    [Fact]
    public async Task R9_an_append_that_no_replica_has_takes_a_new_position_and_never_sends_the_old_entry()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (writer, other) = (cluster.Client(), cluster.Client());
        var writes = 0;
        cluster.Transport.Trace = new();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest && ++writes == 1) await ReplaceSequencerAsync(cluster, other);
            return Fault.None;
        };
        var result = await writer.AppendAsync(Bytes("moved"), [A]);
        Assert.True(result.IsAppended);
        Assert.Equal(new Epoch(2), result.Position.Epoch);

        // No client has to look for entries above the new start (R13).
        Assert.DoesNotContain(cluster.Transport.Trace, t => t.Request is ReadRequest { Epoch.Value: 2 });
        Assert.Equal(["moved"], await PlayAsync(other));
        Assert.Single(cluster.Transport.Trace, t => t.Request is WriteRequest { Epoch.Value: 1 });
    }

    [Fact]
    public async Task Removed_unit_is_out_of_every_chain_and_no_acknowledged_entry_is_lost()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        for (var i = 0; i < 30; i++) await client.AppendAsync(Bytes($"{i}"), [A]);
        var dead = cluster.Units[1];
        cluster.Transport.Stop(dead.Id);
        var projection =
            await client.Cluster.ReconfigureAsync(p => p.HasUnit(dead.Id) ? Membership.Of(p).Without(dead.Id) : null,
                "unit 1 is dead");
        Assert.False(projection.HasUnit(dead.Id));
        for (var i = 30; i < 60; i++) await client.AppendAsync(Bytes($"{i}"), [A]);
        Assert.Equal(Enumerable.Range(0, 60).Select(i => $"{i}"), await PlayAsync(client));
    }

    [Fact]
    public async Task R13_reconfiguration_without_the_first_survivors_answer_proposes_no_epoch()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        cluster.Transport.Stop(cluster.Units[0].Id);
        var error = await Assert.ThrowsAsync<ReconfigurationException>(() => ReplaceSequencerAsync(cluster, client));
        Assert.Contains(cluster.Units[0].Id.ToString(), error.Message);
        Assert.Equal(Epoch.First, client.Projection.Epoch);
    }

    /// <summary>The simulator's seed 1316: replicas were set while two units were gone, and the chain of just these two
    /// had no survivor for ever after.</summary>
    [Fact]
    public async Task R14_a_chain_for_new_entries_needs_a_unit_that_answers()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        await client.Cluster.ReconfigureAsync(
            p => p.Active.Chains.Length == 1 ? null : Membership.Of(p).WithNextChains(cluster.Chains(3, 3)[..1], []),
            "one chain");
        var silent = cluster.Units.Skip(1).ToList();
        cluster.Transport.Faults = (to, _) => new(silent.Contains(to) ? Fault.Refused : Fault.None);
        Task<Projection> SpreadAsync() =>
            client.Cluster.ReconfigureAsync(
                p => p.Active.Chains.Length == 3 ? null : Membership.Of(p).WithNextChains(cluster.Chains(3, 2), []),
                "three chains");
        var error = await Assert.ThrowsAsync<ReconfigurationException>(SpreadAsync);
        Assert.Contains("would have no unit that answers", error.Message, StringComparison.Ordinal);
        foreach (var unit in silent) Assert.Contains(unit.Id.ToString(), error.Message, StringComparison.Ordinal);
        Assert.Single(client.Projection.Active.Chains);
        silent.RemoveAt(1);
        Assert.Equal(3, (await SpreadAsync()).Active.Chains.Length);
    }

    /// <summary>The simulator's seed 2883: a cluster's only acceptor gave way to one that had lost its disk, and no
    /// acceptor could decide any more.</summary>
    [Fact]
    public async Task R12_an_acceptor_that_does_not_answer_is_not_named()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var (gone, spare) = (cluster.AddAcceptor(), cluster.AddAcceptor());
        cluster.Transport.Stop(gone.Id);
        Task<Projection> NameAsync(NodeAddress acceptor) => client.Cluster.ReconfigureAsync(
            p => p.Acceptors.Contains(acceptor) ? null : Membership.Of(p) with { Acceptors = [acceptor] }, "test");

        cluster.Transport.Trace = [];
        var error = await Assert.ThrowsAsync<ReconfigurationException>(() => NameAsync(gone));
        Assert.Contains(gone.ToString(), error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(cluster.Transport.Trace, call => call.Request is SealRequest or AcceptRequest);

        cluster.Transport.Trace = [];
        Assert.Equal([spare], (await NameAsync(spare)).Acceptors);
        var calls = cluster.Transport.Trace.ToList();
        var told = calls.FindIndex(call => call.To == spare && call.Request is DecidedRequest { Slot.Value: 1 });
        Assert.InRange(told, 0, calls.FindIndex(call => call.Request is SealRequest));
    }

    /// <summary>The acceptor's disk may be full, and the data to be trimmed for it is on the same machine.</summary>
    [Fact]
    public async Task R12_an_acceptor_that_moves_is_named_already()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2, acceptors: 3);
        var client = cluster.Client();
        var moved = cluster.Acceptors[0] with { Endpoint = new NodeEndpoint("elsewhere", 1) };
        cluster.Transport.Stop(moved.Id);
        var decided = await client.Cluster.ReconfigureAsync(
            p => p.Acceptors.Contains(moved) ? null : Membership.Of(p).WithEndpoint(moved), "test");
        Assert.Equal([moved, cluster.Acceptors[1], cluster.Acceptors[2]], decided.Acceptors);
    }

    [Fact]
    public async Task R14_a_chain_without_survivors_is_refused()
    {
        await using var cluster = await TestCluster.StartAsync(2, 1);
        var client = cluster.Client();
        await Assert.ThrowsAsync<ReconfigurationException>(
            () => client.Cluster.ReconfigureAsync(p => Membership.Of(p).Without(cluster.Units[0].Id), "test"));
    }

    [Fact]
    public async Task R2_a_unit_that_leaves_one_chain_leaves_all()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await Assert.ThrowsAsync<ReconfigurationException>(() => client.Cluster.ReconfigureAsync(
            p => Membership.Of(p) with
            {
                Segments = [p.Active
                    with { Chains = p.Active.Chains.SetItem(0, new Chain([p.Active.Chains[0].Replicas[0]])) }],
            },
            "test"));
    }

    [Fact]
    public async Task R14_seals_without_a_successor_are_taken_up_with_the_same_membership()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        foreach (var unit in cluster.Units)
            await cluster.Transport.CallAsync(unit, new SealRequest(new Epoch(2)), default);
        Assert.True((await client.AppendAsync(Bytes("1"), [A])).IsAppended);
        Assert.Equal(new Epoch(2), client.Projection.Epoch);
        Assert.Equal(cluster.First.Sequencer, client.Projection.Sequencer);
        Assert.Equal(["0", "1"], await PlayAsync(client));
    }

    [Fact]
    public async Task R14_a_unit_that_was_sealed_too_far_ahead_serves_again()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        for (var epoch = 2; epoch <= 4; epoch++)
            await cluster.Transport.CallAsync(cluster.Units[0], new SealRequest(new Epoch(epoch)), default);
        var last = new SealRequest(new Epoch(long.MaxValue));
        var far = await cluster.Transport.CallAsync(cluster.Units[1], last, default);
        Assert.Equal(Status.NotInstalled, far.Status);
        var projection = await ReplaceSequencerAsync(cluster, client);
        Assert.Equal(new Epoch(4), projection.Epoch);
        for (var i = 1; i < 7; i++) Assert.True((await client.AppendAsync(Bytes($"{i}"), [A])).IsAppended);
        Assert.Equal(Enumerable.Range(0, 7).Select(i => $"{i}"), await PlayAsync(client));
    }

    [Fact]
    public async Task R13_a_spare_is_sealed_after_the_install_of_the_epoch()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        for (var i = 0; i < 3; i++) await client.Cluster.ReconfigureAsync(Membership.Of, "an epoch before the spare");
        var spare = await cluster.AddUnitAsync();
        var projection = await client.Cluster.ReconfigureAsync(
            p => p.HasUnit(spare.Id) ? null : Membership.Of(p).WithReplaced(cluster.Units[1].Id, spare), "replace");
        Assert.True(projection.HasUnit(spare.Id));
        for (var i = 1; i < 7; i++) Assert.True((await client.AppendAsync(Bytes($"{i}"), [A])).IsAppended);
        Assert.Equal(Enumerable.Range(0, 7).Select(i => $"{i}"), await PlayAsync(client));
    }

    /// <summary>R12: the next epoch is decided though one acceptor was asked for the highest ballot of all.</summary>
    [Fact]
    public async Task R12_a_ballot_at_the_highest_round_ends_no_register()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var highest = new Ballot(long.MaxValue, Guid.AllBitsSet);
        foreach (var acceptor in cluster.Acceptors)
            await cluster.Transport.CallAsync(acceptor, new PrepareRequest(new Epoch(2), highest), default);
        for (var i = 0; i < 3; i++)
            await cluster.Transport.CallAsync(
                cluster.Acceptors[0], new PrepareRequest(new Epoch(2), highest), default);
        Assert.Equal(new Epoch(2), (await ReplaceSequencerAsync(cluster, client)).Epoch);
    }

    [Fact]
    public async Task R14_a_projection_installed_nowhere_is_installed_by_the_clients_that_need_one()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (one, two) = (cluster.Client(), cluster.Client());
        await one.AppendAsync(Bytes("0"), [A]);
        var installing = false;
        cluster.Transport.Faults =
            (_, request) =>
                new(!installing && request is InstallRequest or BootstrapRequest ? Fault.RequestLost : Fault.None);
        await ReplaceSequencerAsync(cluster, one);
        installing = true;
        cluster.Transport.Faults = null;
        Assert.True((await two.AppendAsync(Bytes("1"), [A])).IsAppended);
        Assert.Equal(["0", "1"], await PlayAsync(two));
    }

    [Fact]
    public async Task Concurrent_reconfigurers_end_in_one_history()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var clients = Enumerable.Range(0, 5).Select(_ => cluster.Client()).ToList();
        await clients[0].AppendAsync(Bytes("0"), [A]);
        var results = await Task.WhenAll(clients.Select(c => ReplaceSequencerAsync(cluster, c)));
        foreach (var same in results.GroupBy(p => p.Epoch)) Assert.Single(same.Distinct());
        Assert.True((await clients[1].AppendAsync(Bytes("1"), [A])).IsAppended);
        Assert.Equal(["0", "1"], await PlayAsync(clients[2]));
    }

    [Fact]
    public async Task New_chains_open_a_segment_at_the_new_start()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        for (var i = 0; i < 10; i++) await client.AppendAsync(Bytes($"{i}"), [A]);
        var added = await cluster.AddUnitAsync();
        var projection = await client.Cluster.ReconfigureAsync(
            p => p.HasUnit(added.Id) ? null : Membership.Of(p).WithNextChains(cluster.Chains(3, 2), [added]),
            "capacity");
        Assert.Equal(2, projection.Segments.Length);
        Assert.Equal(10, projection.Active.From.Offset);
        for (var i = 10; i < 40; i++) await client.AppendAsync(Bytes($"{i}"), [A]);
        Assert.Equal(Enumerable.Range(0, 40).Select(i => $"{i}"), await PlayAsync(cluster.Client()));
        Assert.Equal(PageState.Data,
            (await cluster.LookAsync(added, new LogPosition(10 + ((3 + 1 - (10 % 3)) % 3)))).State);
    }

    [Fact]
    public async Task R14_a_client_that_finds_a_successor_decided_by_another_leaves_that_in_force()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (one, two) = (cluster.Client(), cluster.Client());
        await one.AppendAsync(Bytes("0"), [A]);
        foreach (var unit in cluster.Units)
            await cluster.Transport.CallAsync(unit, new SealRequest(new Epoch(2)), default);
        var rivals = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            // Another is first, between the decision to propose and the proposal.
            if (request is SealRequest && Interlocked.Increment(ref rivals) == 1)
                await ReplaceSequencerAsync(cluster, two);
            return Fault.None;
        };
        Assert.True((await one.AppendAsync(Bytes("1"), [A])).IsAppended);
        Assert.Equal(new Epoch(2), one.Projection.Epoch);
        Assert.Equal(two.Projection, one.Projection);
    }
}
