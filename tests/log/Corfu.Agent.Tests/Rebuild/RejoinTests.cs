using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

/// <summary>
/// R15, the simulator's seeds 152 and 772: a replica leaves its chains while they are copied to it, misses what is
/// copied then, and joins them again before the copy ends. It must not become a full replica by that copy.
/// </summary>
public class RejoinTests
{
    private const int Entries = 200;
    private static readonly RebuildOptions OneByOne = new()
    {
        Batch = 16,
        BatchesInFlight = 1,
        RetryDelay = TimeSpan.FromMilliseconds(1)
    };

    [Fact]
    public async Task R15_a_replacement_that_missed_a_part_of_the_rebuild_is_rebuilt_again()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, Entries);
        var spare = await cluster.AddUnitAsync();
        cluster.Transport.Stop(cluster.Units[0].Id);
        await OperationsOf(cluster, client).ReplaceUnitAsync(cluster.Units[0].Id, [spare], "unit 0 is dead");
        var joined = client.Projection.Segments[0].Chains;
        var missed = LeaveAndReturn(cluster, spare,
            [.. joined.Select(c => new Chain([.. c.Replicas.Take(c.FullCount)]))], joined);
        var projection = await Rebuilder(cluster, client, OneByOne).RunAsync();
        Assert.True(missed());
        await AssertHeldAsync(cluster, projection, spare);
    }

    [Fact]
    public async Task R15_a_unit_that_missed_a_part_of_a_migration_gets_that_before_taking_over()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, Entries);
        var added = await cluster.AddUnitAsync();
        var before = client.Projection.Active.Chains;
        await OperationsOf(cluster, client).AddUnitsAsync([added], "capacity");
        var missed = LeaveAndReturn(cluster, added, before, client.Projection.Active.Chains);
        var projection = await new Migrator(client.Cluster, cluster.Transport, TimeProvider.System, OneByOne)
            .CompactAsync(1,
            "test");
        Assert.True(missed());
        Assert.Single(projection.Segments);
        await AssertHeldAsync(cluster, projection, added);
    }

    /// <summary>At the first copy to the unit it leaves the first segment; when a batch has been copied without it, it
    /// joins the segment again.</summary>
    /// <returns>Whether both have happened.</returns>
    private static Func<bool> LeaveAndReturn(TestCluster cluster, NodeAddress unit, ImmutableArray<Chain> without,
        ImmutableArray<Chain> with)
    {
        var other = cluster.Client();
        var step = 0;
        var reads = 0;
        Epoch away = default;
        cluster.Transport.Faults = async (to, request) =>
        {
            if (request is CompleteManyRequest && to.Id == unit.Id && step == 0)
            {
                step = 1;
                away =
                    (await other.Cluster.ReconfigureAsync(p => Membership.Of(p).WithMigrated(LogPosition.Zero, without),
                        "it leaves")).Epoch;
                step = 2;
            }
            else if (request is ReadRequest && request.Epoch == away && step == 2 && ++reads == 5)
            {
                // A batch asks two units at most, so that one has been done.
                step = 3;
                await other.Cluster.ReconfigureAsync(p => Membership.Of(p).WithMigrating(LogPosition.Zero, with),
                    "it joins again");
                step = 4;
            }

            return Fault.None;
        };
        return () => step == 4;
    }

    private static async Task AssertHeldAsync(TestCluster cluster, Projection projection, NodeAddress unit)
    {
        var held = 0;
        for (var i = 0; i < Entries; i++)
        {
            var chain = projection.ChainOf(new LogPosition(i));
            if (!chain.Replicas.Contains(new Replica(unit.Id))) continue;
            Assert.Equal(PageState.Data, (await cluster.LookAsync(unit, new LogPosition(i))).State);
            held++;
        }

        Assert.True(held >= Entries / 2);
    }
}
