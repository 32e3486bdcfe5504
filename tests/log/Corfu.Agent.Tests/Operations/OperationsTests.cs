using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

public class OperationsTests
{
    [Fact]
    public async Task A_failed_unit_is_replaced_by_a_spare_and_appends_go_on_with_as_many_replicas()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (client, other) = (cluster.Client(), cluster.Client());
        await AppendAsync(client, 0, 30);
        var (dead, spare) = (cluster.Units[0], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        var projection = await OperationsOf(cluster, client).ReplaceUnitAsync(dead.Id, [spare], "unit 0 is dead");
        Assert.False(projection.HasUnit(dead.Id));
        Assert.Equal(2, projection.Segments.Length);
        Assert.Equal(30, projection.Active.From.Offset);
        Assert.All(projection.Active.Chains, c => Assert.Equal(2, c.FullCount));
        Assert.Equal(2,
            projection.Segments[0].Chains.Count(c => c.Replicas.Contains(new Replica(spare.Id, Joining: true))));

        // A client with the old projection is told, catches up and goes on.
        await AppendAsync(other, 30, 30);
        await AssertWholeAsync(client, 60);
        Assert.Equal(PageState.Data, (await cluster.LookAsync(spare, new LogPosition(30))).State);
    }

    [Fact]
    public async Task A_dead_spare_is_passed_over_and_a_used_one_refused()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 10);
        var (first, second, dead, silent, third) =
            (cluster.Units[0], cluster.Units[1], cluster.Units[2], await cluster.AddUnitAsync(),
                await cluster.AddUnitAsync());
        cluster.Transport.Stop(silent.Id);
        var operations = OperationsOf(cluster, client);
        var projection = await operations.ReplaceUnitAsync(dead.Id, [silent, third], "test");
        Assert.True(projection.HasUnit(third.Id));

        // R2: what was removed never returns.
        await Assert.ThrowsAsync<ReconfigurationException>(() => operations.ReplaceUnitAsync(third.Id, [dead], "test"));
        var error = await Assert.ThrowsAsync<ReconfigurationException>(
            () => client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithReplaced(third.Id, dead), "test"));
        Assert.Contains(dead.Id.ToString(), error.Message);
        Assert.True(projection.HasUnit(first.Id) && projection.HasUnit(second.Id));
    }

    [Fact]
    public async Task Chains_get_shorter_without_a_spare()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 10);
        cluster.Transport.Stop(cluster.Units[1].Id);
        var projection = await OperationsOf(cluster, client).DropUnitAsync(cluster.Units[1].Id, "unit 1 is dead");
        Assert.Single(projection.Segments);
        await AppendAsync(client, 10, 10);
        await AssertWholeAsync(cluster.Client(), 20);
        Assert.Equal(projection, await OperationsOf(cluster, client).DropUnitAsync(cluster.Units[1].Id, "again"));
    }

    [Fact]
    public async Task Many_reconfigurers_with_few_spares_replace_a_unit_once()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var clients = Enumerable.Range(0, 4).Select(_ => cluster.Client()).ToList();
        await AppendAsync(clients[0], 0, 10);
        var (dead, a, b) = (cluster.Units[0], await cluster.AddUnitAsync(), await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        var results =
            await Task.WhenAll(clients.Select(c => OperationsOf(cluster, c).ReplaceUnitAsync(dead.Id, [a, b], "test")));
        Assert.All(results, p => Assert.Equal(new Epoch(2), p.Epoch));
        Assert.Single(results.Distinct());
        await AppendAsync(clients[3], 10, 10);
    }

    [Fact]
    public async Task A_sequencer_is_replaced_by_the_first_standby_that_answers()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 10);
        var (dead, silent, standby) = (cluster.First.Sequencer, cluster.AddSequencer(), cluster.AddSequencer());
        cluster.Transport.Stop(dead.Id);
        cluster.Transport.Stop(silent.Id);
        var projection = await OperationsOf(cluster, client).ReplaceSequencerAsync(dead.Id, [silent, standby], "test");
        Assert.Equal(standby, projection.Sequencer);
        await AppendAsync(client, 10, 10);
    }
}
