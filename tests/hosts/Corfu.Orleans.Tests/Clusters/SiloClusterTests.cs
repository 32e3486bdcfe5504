using Corfu.Orleans.Clustering;
using Corfu.Orleans.Tests.Contracts;
using Corfu.Orleans.Tests.Support;
using Corfu.OrleansSilo;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;
using Orleans.TestingHost;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Silos over a real log, both of which lose parts meanwhile.</summary>
public sealed class SiloClusterTests(SiloCluster cluster) : IClassFixture<SiloCluster>
{
    private InProcessTestCluster Silos => cluster.Silos;

    [Fact]
    public async Task No_acknowledged_change_is_lost_while_silos_and_parts_of_the_log_stop()
    {
        var load = new LedgerLoad(Silos.Client);
        await load.GoesOnAsync("at first");

        await cluster.Log.StopNodeAsync("unit-1");
        await load.GoesOnAsync("without a unit");
        await Silos.KillSiloAsync(Silos.Silos[1]);
        await load.GoesOnAsync("without a silo");
        await cluster.Log.StartNodeAsync("unit-1");
        await load.GoesOnAsync("with the unit again");
        var sequencer = await cluster.StopSequencerAsync();
        await load.GoesOnAsync("with the other sequencer");
        await Silos.StopSiloAsync(Silos.Silos[0]);
        await Silos.StartAdditionalSiloAsync();
        await cluster.Log.StartNodeAsync(sequencer);
        await Silos.StartAdditionalSiloAsync();
        await load.GoesOnAsync("with new silos");

        await load.EndAsync();
    }

    [Fact]
    public async Task Reminder_of_a_killed_silo_comes_on_another_silo()
    {
        var grain = Silos.Client.GetGrain<ITickGrain>("clock");
        await grain.StartAsync(TimeSpan.FromMilliseconds(200));
        await ReachesAsync(grain, 3);
        var before = await grain.WhereAsync();
        var count = await grain.CountAsync();

        await Silos.KillSiloAsync(Silos.GetSiloForAddress(SiloAddress.FromParsableString(before))!);
        await Silos.StartAdditionalSiloAsync();

        await ReachesAsync(grain, count + 3);
        Assert.NotEqual(before, await grain.WhereAsync());
        Assert.True(await grain.StopAsync());
        Assert.False(await grain.StopAsync());
    }

    [Fact]
    public async Task Writes_in_all_silos_with_one_etag_take_effect_once_while_the_sequencer_is_replaced()
    {
        var grain = GrainId.Create("cart", "contended");
        var storages = Services.Select(
            static silo => silo.GetRequiredKeyedService<IGrainStorage>("Default")).ToArray();
        var stopping = cluster.StopSequencerAsync();
        for (var round = 0; round < 20; round++)
        {
            var seen = new GrainState<CartState>(new CartState());
            await storages[0].ReadStateAsync("cart", grain, seen);
            var outcomes = await Task.WhenAll(storages.SelectMany(static storage => new[] { storage, storage }).Select(
                (storage, i) => WriteAsync(storage, grain, seen.ETag, (round * 8) + i)));

            var now = new GrainState<CartState>(new CartState());
            await storages[^1].ReadStateAsync("cart", grain, now);
            // An outcome that is not known may be the winner's.
            var candidates = outcomes.Where(static outcome => outcome.Kind == Outcome.Written).ToList();
            if (candidates.Count == 0)
                candidates = [.. outcomes.Where(static outcome => outcome.Kind == Outcome.Unknown)];
            else
                Assert.Single(candidates);
            Assert.Contains(now.State!.Count, candidates.Select(static outcome => outcome.Count));
        }

        await cluster.Log.StartNodeAsync(await stopping);
    }

    [Fact]
    public async Task Simultaneous_membership_updates_with_one_version_take_effect_once()
    {
        var tables = Services.Select(static silo => new CorfuMembershipTable(
            silo.GetRequiredService<CorfuOrleansRuntime>(), silo.GetRequiredService<ObjectNames>(),
            NullLogger<CorfuMembershipTable>.Instance)).ToArray();
        for (var round = 1; round <= 10; round++)
        {
            var outdated = (await tables[0].ReadAll()).Version.Next();
            var outcomes = await Task.WhenAll(
                tables.Select(table => table.InsertRow(NewEntry(), outdated)));

            Assert.Single(outcomes, static taken => taken);
            Assert.Equal(round, (await tables[^1].ReadAll()).Version.Version);
        }

        static MembershipEntry NewEntry() => Support.Silos.NewEntry();
    }

    private IEnumerable<IServiceProvider> Services =>
        Silos.GetActiveSilos().Select(static silo => silo.SiloHost.Services);

    private static async Task<(Outcome Kind, int Count)> WriteAsync(
        IGrainStorage storage, GrainId grain, string? etag, int count)
    {
        try
        {
            await storage.WriteStateAsync(
                "cart", grain, new GrainState<CartState>(new CartState { Count = count }, etag));
            return (Outcome.Written, count);
        }
        catch (InconsistentStateException)
        {
            return (Outcome.Refused, count);
        }
        catch (CorfuOutcomeUnknownException)
        {
            return (Outcome.Unknown, count);
        }
    }

    private static Task ReachesAsync(ITickGrain grain, int count) => Eventually.IsTrueAsync(
        async () => await Eventually.SucceedsAsync(grain.CountAsync, "the count is read") >= count,
        $"the reminder has come {count} times");

    private enum Outcome
    {
        Written,
        Refused,
        Unknown,
    }
}
