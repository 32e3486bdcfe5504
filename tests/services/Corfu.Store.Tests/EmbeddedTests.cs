using Corfu.Client;
using Corfu.Hosting;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests;

/// <summary>A store on a cluster with sockets and disks.</summary>
public sealed class EmbeddedTests
{
    private const int Rounds = 60;

    [Fact]
    public async Task Counters_of_two_processes_lose_no_step_while_a_unit_and_the_sequencer_are_lost()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 3, Replicas = 2, Spares = 1, Sequencers = 2 });

        // A busy machine may take long to replace what is lost.
        var patient = new CorfuClientOptions { OperationTimeout = TimeSpan.FromMinutes(5) };
        await using var first = await cluster.ConnectAsync(patient);
        await using var second = await cluster.ConnectAsync(patient);
        await using var one = new TangoRuntime(first);
        await using var two = new TangoRuntime(second);
        await using var store = await CorfuStore.OpenAsync(first, one);
        await using var other = await CorfuStore.OpenAsync(second, two);
        var watched = TakeAsync(other.WatchAsync("count", 1), 2 * Rounds);
        var counting = CountAsync(other, _ => Task.CompletedTask);
        await CountAsync(store, async round =>
        {
            if (round is not (10 or 20)) return;
            await cluster.StopNodeAsync(cluster.Manifest.Nodes.First(node => node.Name.Contains(
                round == 10 ? "unit" : "sequencer", StringComparison.Ordinal)).Name);
        });
        await counting;

        // Each step once, in the order of revisions.
        Assert.Equal(Enumerable.Range(1, 2 * Rounds).Select(static i => $"{i}"),
            (await watched).Select(static told => Text(told.Changes[0].Entry)));
        var big = new byte[300_000];
        new Random(7).NextBytes(big);
        await store.PutAsync("big", big);
        Assert.Equal(big, (await other.GetAsync("big"))!.Value.ToArray());
        await first.TrimPrefixAsync(await TrimPointAsync(one));
        await using var late = new TangoRuntime(second);
        await using var opened = await CorfuStore.OpenAsync(second, late);
        Assert.Equal(big, (await opened.GetAsync("big"))!.Value.ToArray());
        Assert.Equal($"{2 * Rounds}", Text(await opened.GetAsync("count")));
    }

    private static async Task CountAsync(CorfuStore store, Func<int, Task> between)
    {
        for (var round = 0; round < Rounds; round++)
        {
            while (true)
            {
                var entry = await store.GetAsync("count");
                var next = int.Parse(Text(entry) ?? "0") + 1;
                if ((await store.TestAndSetAsync("count", entry?.Revision ?? 0, Bytes($"{next}"))).Succeeded) break;
            }

            await between(round);
        }
    }

    private static async Task<LogPosition> TrimPointAsync(TangoRuntime runtime) =>
        (await runtime.Log.ReadTrimPointAsync()).Released;
}
