using Corfu.FaultRuns.Machine;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Returns;

/// <summary>A cluster that does not wear out: units are killed, taken out, started again, and are full replicas again,
/// with appends going on.</summary>
public sealed class ReturnsRun(int kills, int seed, TextWriter output)
{
    // A log that holds nothing lacks no replicas, and a unit that comes back to it waits as a spare.
    private const int FirstEntries = 200;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    private readonly Random _random = new(seed);

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var cluster = new LocalCluster(undo);
            await cluster.CreateAsync(stop);
            await cluster.AppendAsync(FirstEntries, 1, stop);
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var appends = cluster.AppendAsync(int.MaxValue, 1, enough.Token);
            var done = 0;
            for (; done < kills && !stop.IsCancellationRequested; done++)
            {
                var name = $"unit-{_random.Next(3)}";
                var endpoint = await cluster.KillAsync(name, stop);
                await cluster.WaitAsync($"without {name}", p => p.Units.All(u => u.Endpoint != endpoint), Limit, stop);
                await cluster.UpAsync(stop);
                var whole = await cluster.WaitAsync($"whole after {name} came back", LocalCluster.IsWhole, Limit, stop);
                output.WriteLine($"kill {done + 1}: {name} is back, {whole.Epoch}");
            }

            await enough.CancelAsync();
            await appends;
            var (acknowledged, lost, twice) = await cluster.CheckAsync(stop);
            var newest = await cluster.Client.Cluster.RefreshAsync(stop);
            await cluster.Client.DisposeAsync();
            var units = ClusterFolder.Open(cluster.Folder).Manifest.ChainUnits();
            var removed = units.Count(unit => !newest.HasUnit(unit.Id));
            var used =
                units.Count(
                    unit =>
                        newest.Active.Chains.Any(
                            chain => chain.Replicas.Any(replica => replica.Unit == unit.Id && !replica.Joining)));
            await cluster.DownAsync(CancellationToken.None);
            output.WriteLine($"entries acknowledged {acknowledged}");
            output.WriteLine(
                $"returns kills={done} removed={removed} lost={lost} twice={twice} "
                + $"in_use={(used == units.Length ? "all" : $"{used} of {units.Length}")}");
            return done == kills && acknowledged > 0 && removed + lost + twice == 0 && used == units.Length ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }
}
