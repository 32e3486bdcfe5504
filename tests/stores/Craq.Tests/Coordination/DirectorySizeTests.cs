using Craq.Coordination;
using Tango.Testing;

namespace Craq.Tests.Coordination;

/// <summary>Tests that look at the memory of the process: no other test runs beside them.</summary>
[CollectionDefinition(nameof(MemoryCollection), DisableParallelization = true)]
public sealed class MemoryCollection;

/// <summary>The directory of a large cluster.</summary>
[Collection(nameof(MemoryCollection))]
public sealed class DirectorySizeTests
{
    private const int Nodes = 1_000;
    private const int Chains = 10_000;

    // 2 KB a chain: names, members, base, placement, tree nodes. CRAQ 5.1 names a tenth of it as a problem to come.
    private const long MostBytes = 2_000L * Chains;

    [Fact]
    public async Task Directory_of_many_nodes_and_chains_plays_within_bounded_memory()
    {
        var log = new InMemoryCorfuLog();
        await using (var writer = new Tango.TangoRuntime(log))
        {
            var directory = await writer.OpenAsync<CraqDirectory>(
                CraqDirectory.DefaultName, Tango.OpenMode.Create);
            var day = TimeSpan.FromDays(1);
            await Parallel.ForAsync(1, Nodes + 1, async (number, stop) =>
                await directory.RegisterAsync(Samples.Node(number), day, stop));
            await Parallel.ForAsync(0, Chains, async (number, stop) =>
            {
                var outcome = await directory.CreateChainAsync(
                    $"chain/{number}", Placement.Default, ChainOptions.Default, stop);
                await directory.OpenedAsync(outcome.Config!.Id, outcome.Config.Epoch, stop);
            });
        }

        var before = GC.GetTotalMemory(forceFullCollection: true);
        await using var reader = new Tango.TangoRuntime(log);
        await using var played = await TangoChainDirectory.OpenAsync(
            reader, TimeProvider.System, LoopContext.Pool, CancellationToken.None);
        var view = played.View;
        var bytes = GC.GetTotalMemory(forceFullCollection: true) - before;
        Assert.Equal(Chains, view.Chains.Count);
        Assert.Equal(Nodes, view.Nodes.Count);
        Assert.All(view.Chains.Values, chain => Assert.True(chain.IsRecordedOpen));
        Assert.InRange(bytes, 0, MostBytes);
        GC.KeepAlive(view);
    }
}
