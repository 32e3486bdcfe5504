using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

public class MembershipTests
{
    private static Migrator MigratorOf(TestCluster cluster, CorfuClient client) =>
        new(client.Cluster, cluster.Transport, TimeProvider.System,
            new RebuildOptions { Batch = 16, RetryDelay = TimeSpan.FromMilliseconds(1) });

    /// <summary>Every position of the log is at every replica of its chain, and all are full.</summary>
    private static async Task AssertReplicatedAsync(TestCluster cluster, Projection projection, int count, int replicas)
    {
        for (var i = 0; i < count; i++)
        {
            var chain = projection.ChainOf(new LogPosition(i));
            Assert.Equal(replicas, chain.FullCount);
            Assert.Equal(replicas, chain.Replicas.Length);
            foreach (var replica in chain.Replicas)
                Assert.Equal(PageState.Data,
                    (await cluster.LookAsync(projection.AddressOf(replica.Unit), new LogPosition(i))).State);
        }
    }

    [Fact]
    public async Task Added_units_take_new_entries_and_written_ones_stay()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 20);
        var (a, b) = (await cluster.AddUnitAsync(), await cluster.AddUnitAsync());
        var operations = OperationsOf(cluster, client);
        var projection = await operations.AddUnitsAsync([a, b], "capacity");
        Assert.Equal(4, projection.Active.Chains.Length);
        Assert.Equal(20, projection.Active.From.Offset);
        await AppendAsync(client, 20, 20);
        await AssertWholeAsync(cluster.Client(), 40);
        await AssertReplicatedAsync(cluster, projection, 40, 2);
        Assert.Equal(projection, await operations.AddUnitsAsync([b, a], "again"));
    }

    [Fact]
    public async Task Migrated_segment_merges_with_the_neighbour_and_every_entry_is_on_the_new_chains()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        await client.TrimAsync(new LogPosition(13));
        var operations = OperationsOf(cluster, client);
        await operations.AddUnitsAsync([await cluster.AddUnitAsync()], "capacity");
        await AppendAsync(client, 60, 30);
        Assert.Equal(2, client.Projection.Segments.Length);
        var projection = await MigratorOf(cluster, client).CompactAsync(1, "test");
        Assert.Single(projection.Segments);
        Assert.Equal(3, projection.Active.Chains.Length);
        Assert.Equal(PageState.Trimmed, (await client.ReadManyAsync([new LogPosition(13)]))[0].State);
        var read = await cluster.Client().ReadManyAsync([.. Enumerable.Range(0, 90).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 90; i++)
            Assert.Equal(i == 13 ? null : Bytes(i), i == 13 ? null : read[i].Entry?.Payload.ToArray());
        await AppendAsync(client, 90, 10);
    }

    [Fact]
    public async Task A_migration_that_was_cut_short_is_finished_by_a_rebuilder_and_another_migrator()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 200);
        await OperationsOf(cluster, client).AddUnitsAsync([await cluster.AddUnitAsync()], "capacity");
        using var stop = new CancellationTokenSource();
        var copies = 0;
        cluster.Transport.Faults = (_, r) =>
        {
            if (r is CompleteManyRequest && Interlocked.Increment(ref copies) == 3) stop.Cancel();
            return new(Fault.None);
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => MigratorOf(cluster, client).CompactAsync(1, "test", cancellationToken: stop.Token));
        Assert.True(Rebuilder.IsNeeded(client.Projection));
        var other = cluster.Client();
        await Rebuilder(cluster, other).RunAsync();
        var projection = await MigratorOf(cluster, other).CompactAsync(1, "test");
        Assert.Single(projection.Segments);
        await AssertReplicatedAsync(cluster, projection, 200, 2);
    }

    /// <summary>As a projection once dropped what was trimmed as a whole, and with the units all that was known of its
    /// streams.</summary>
    [Fact]
    public async Task R22_a_segment_trimmed_as_a_whole_goes_when_other_units_know_the_streams()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var (a, b) = (StreamId.FromName("a"), StreamId.FromName("b"));
        await AppendAsync(client, 0, 20, a);
        ImmutableArray<NodeAddress> old = [.. cluster.Units];
        ImmutableArray<NodeAddress> units = [await cluster.AddUnitAsync(), await cluster.AddUnitAsync(),
            await cluster.AddUnitAsync()];
        await client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithNextChains(cluster.Chains(5, 2)[2..4], units),
            "others");
        await AppendAsync(client, 20, 20, b);
        await client.TrimPrefixAsync(new LogPosition(25));
        Assert.Equal(2, client.Projection.Segments.Length);
        var projection =
            await client.Cluster.ReconfigureAsync(
                p => p.TrimMark == LogPosition.Zero ? Membership.Of(p).WithSequencer(cluster.AddSequencer()) : null,
                "the mark is seen");
        Assert.Equal(25, projection.TrimMark.Offset);
        Assert.Equal(2, projection.Segments.Length);

        // However many segments there may be: this one costs no copies.
        cluster.Transport.Trace = new();
        projection = await MigratorOf(cluster, client).CompactAsync(4, "test");
        Assert.Single(projection.Segments);
        Assert.DoesNotContain(cluster.Transport.Trace, t => t.Request is CompleteManyRequest);
        Assert.Equal([.. units.Select(u => u.Id)], projection.Units.Select(u => u.Id));
        foreach (var unit in old) cluster.Transport.Stop(unit.Id);
        Assert.Equal([19L, 18, 17, 16], (await cluster.Client().CheckAsync([a])).Streams[0].Positions
            .Select(p => p.Offset));
        var stream = new StreamCursor(cluster.Client(), a);
        await stream.SyncAsync();
        await Assert.ThrowsAsync<LogTrimmedException>(async () => await stream.ReadNextAsync());
        await AppendAsync(client, 40, 10, b);
    }

    [Fact]
    public async Task Change_of_the_number_of_replicas_reaches_written_entries()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        var operations = OperationsOf(cluster, client);
        var three = await operations.SetReplicasAsync(3, MigratorOf(cluster, client), "safer");
        await AssertReplicatedAsync(cluster, three, 60, 3);
        Assert.Single(three.Segments);
        await AppendAsync(client, 60, 30);
        var one = await operations.SetReplicasAsync(1, MigratorOf(cluster, client), "cheaper");
        await AssertReplicatedAsync(cluster, one, 90, 1);
        await AssertWholeAsync(cluster.Client(), 90);
        await Assert.ThrowsAsync<ReconfigurationException>(
            () => operations.SetReplicasAsync(4, MigratorOf(cluster, client), "too many"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_healthy_unit_leaves_without_fewer_replicas_at_any_time(bool withSpare)
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 60);
        var leaving = cluster.Units[1];
        var spare = await cluster.AddUnitAsync();
        var projection = await OperationsOf(cluster, client).RetireUnitAsync(
            leaving.Id, withSpare ? [spare] : [], Rebuilder(cluster, client), "worn out");
        Assert.False(projection.HasUnit(leaving.Id));
        Assert.Equal(withSpare, projection.HasUnit(spare.Id));
        cluster.Transport.Stop(leaving.Id);
        await AssertReplicatedAsync(cluster, projection, 60, 2);
        await AppendAsync(client, 60, 10);
        await AssertWholeAsync(cluster.Client(), 70);
    }

    [Fact]
    public async Task R14_a_chain_without_survivors_goes_on_only_by_the_operators_word()
    {
        await using var cluster = await TestCluster.StartAsync(2, 1);
        var client = cluster.Client();
        await AppendAsync(client, 0, 20);
        var (dead, spare) = (cluster.Units[0], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        var operations = OperationsOf(cluster, client);
        await Assert.ThrowsAsync<ReconfigurationException>(() => operations.ReplaceUnitAsync(dead.Id, [spare], "dead"));
        await Assert.ThrowsAsync<ReconfigurationException>(
            () => operations.ReplaceDestroyedUnitsAsync([dead.Id], [], "burnt"));
        var projection = await operations.ReplaceDestroyedUnitsAsync([dead.Id], [spare], "burnt");
        Assert.Contains("operator", projection.Reason, StringComparison.Ordinal);
        Assert.False(projection.HasUnit(dead.Id));

        // Entries that only the destroyed unit held are junk now, the rest is whole. A client that knows a lost entry
        // gets an error.
        await Assert.ThrowsAsync<DataLossException>(async () => await client.ReadManyAsync([LogPosition.Zero]));
        var read = await cluster.Client().ReadManyAsync([.. Enumerable.Range(0, 20).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 20; i++) Assert.Equal(i % 2 == 0 ? PageState.Junk : PageState.Data, read[i].State);
        await AppendAsync(client, 20, 10);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task R14_positions_known_to_destroyed_units_alone_are_not_granted_again_if_the_old_sequencer_answers(
        bool answers)
    {
        await using var cluster = await TestCluster.StartAsync(2, 1);
        var client = cluster.Client();
        await AppendAsync(client, 0, 21);

        // The last one, acknowledged, was on the destroyed unit alone.
        var (dead, spare) = (cluster.Units[0], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        var old = client.Projection.Sequencer.Id;
        if (!answers) cluster.Transport.Stop(old);
        var operations = OperationsOf(cluster, client);
        var projection = await operations.ReplaceDestroyedUnitsAsync([dead.Id], [spare], "burnt");
        Assert.Equal(answers ? 21 : 20, projection.Start.Offset);
        await operations.ReplaceSequencerAsync(old, [cluster.AddSequencer()], "test");
        await AppendAsync(cluster.Client(), answers ? 21 : 20, 5);
    }

    [Fact]
    public async Task Moved_node_is_found_at_the_new_endpoint()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var (client, other) = (cluster.Client(), cluster.Client());
        await AppendAsync(client, 0, 10);
        var operations = OperationsOf(cluster, client);
        NodeAddress[] nodes = [cluster.Units[1], cluster.Acceptors[2], client.Projection.Sequencer];
        foreach (var node in nodes)
        {
            var there = new NodeAddress(node.Id, new NodeEndpoint("elsewhere", node.Endpoint.Port));
            await Assert.ThrowsAsync<ReconfigurationException>(
                () => operations.MoveNodesAsync([there], "not there yet"));
            cluster.Transport.Move(node.Id, node.Endpoint, there.Endpoint);
            await Assert.ThrowsAsync<ReconfigurationException>(
                () => operations.MoveNodesAsync([there with { Id = new NodeId(Guid.NewGuid()) }], "another"));
            var moved = await operations.MoveNodesAsync([there], "moved");
            Assert.Equal(moved.Epoch, (await operations.MoveNodesAsync([there], "again")).Epoch);
        }

        Assert.Equal(4, client.Projection.Epoch.Value);
        Assert.Equal("elsewhere", client.Projection.AddressOf(nodes[0].Id).Endpoint.Host);
        Assert.Equal("elsewhere", client.Projection.Acceptors[2].Endpoint.Host);
        Assert.Equal("elsewhere", client.Projection.Sequencer.Endpoint.Host);
        Assert.Equal(cluster.First.Active.Chains, client.Projection.Active.Chains);

        // Who knows only the old endpoints finds the new ones through the acceptors that stayed.
        await AppendAsync(other, 10, 10);
        await AssertWholeAsync(other, 20);
    }

    [Fact]
    public async Task R12_acceptors_are_replaced_end_to_end()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var (client, other) = (cluster.Client(), cluster.Client());
        await AppendAsync(client, 0, 5);
        var operations = OperationsOf(cluster, client);
        foreach (var old in cluster.Acceptors.ToList())
        {
            cluster.Transport.Stop(old.Id);
            var added = cluster.AddAcceptor();
            await operations.SetAcceptorsAsync([.. client.Projection.Acceptors.Select(a => a == old ? added : a)],
                "an acceptor is dead");
        }

        // None of the first ones is left. A client that starts from an old projection can only follow while one of the
        // acceptors that it names answers.
        Assert.Equal(4, client.Projection.Epoch.Value);
        Assert.DoesNotContain(client.Projection.Acceptors, a => cluster.Acceptors.Contains(a));
        await operations.ReplaceSequencerAsync(client.Projection.Sequencer.Id, [cluster.AddSequencer()], "test");
        await AppendAsync(client, 5, 5);
        await Assert.ThrowsAsync<ReconfigurationException>(
            () => operations.SetAcceptorsAsync(client.Projection.Acceptors[..2], "even"));
        Assert.Equal(Epoch.First, other.Projection.Epoch);
    }
}
