using System.Globalization;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Returns;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Floods;

/// <summary>Floods a cluster of processes from loopback addresses that are no process's, so that each is an identity.
/// Agents act as always. What must hold: no epoch is made, no probe is lost, and a client with little in flight goes on
/// beside a greedy one.</summary>
public sealed class FloodRun(int slowSeconds, int floodSeconds, int rounds, TextWriter output)
{
    private const string Modest = "127.0.2.1";
    private const string Greedy = "127.0.2.2";
    private const int LoadSeconds = 10;
    private const int Slow = 500;
    private const int Many = 5000;

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var cluster = new LocalCluster(undo);
            await cluster.CreateAsync(stop);
            var folder = ClusterFolder.Open(cluster.Folder);
            await cluster.AppendAsync(200, 4, stop);
            var before = await cluster.Client.Cluster.RefreshAsync(stop);
            var watch = new ProbeWatch(folder, output);
            using var over = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var watching = watch.RunAsync(over.Token);
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var appends = cluster.AppendAsync(int.MaxValue, 1, enough.Token);

            await FloodAsync("slow peers", Slow, slowSeconds, folder, (peers, end) => peers.SlowAsync(Slow, end), stop);
            await FloodAsync("connections", Many, floodSeconds, folder,
                (peers, end) => peers.ManyAsync(Many, 500, end), stop);
            await enough.CancelAsync();
            await appends;
            var (acknowledged, missing, twice) = await cluster.CheckAsync(stop);
            var flooded = (await cluster.Client.Cluster.RefreshAsync(stop)).Epoch.Value - before.Epoch.Value;
            output.WriteLine($"floods: epochs made {flooded}, probes asked {watch.Asked}, lost {watch.Lost}");
            var ratio = await CompareAsync(undo, folder.Manifest.ConnectionString(), stop);

            await over.CancelAsync();
            await watching;
            var after = await cluster.Client.Cluster.RefreshAsync(stop);
            var lost = watch.Lost + watch.NewFindings();
            await cluster.Client.DisposeAsync();
            await cluster.DownAsync(CancellationToken.None);
            var epochs = after.Epoch.Value - before.Epoch.Value;
            output.WriteLine($"probes {watch.Asked}, acknowledged {acknowledged}, lost {missing}, twice {twice}");
            output.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"epochs_made={epochs} probes_lost={lost} good_p99_ratio={ratio:0.00}"));
            return epochs == 0 && lost == 0 && watch.Asked > 0 && acknowledged > 0 && missing + twice == 0 ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task FloodAsync(string what, int connections, int seconds, ClusterFolder folder,
        Func<FloodPeers, CancellationToken, Task> flood, CancellationToken stop)
    {
        var peers = new FloodPeers(folder);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(stop);
        end.CancelAfter(TimeSpan.FromSeconds(seconds));
        await flood(peers, end.Token);
        output.WriteLine($"{what}: {peers.Counts.Opened} opened, {peers.Counts.Served} served, in {seconds} s");
        // A flood that this machine does not let through proves nothing.
        if (peers.Counts.Opened < connections)
            throw new RunException($"{what}: fewer than {connections} connections were opened");
    }

    /// <summary>The p99 of eight appends in flight, beside 20,000 of another identity and alone: the median of
    /// each.</summary>
    private async Task<double> CompareAsync(UndoList undo, string connect, CancellationToken stop)
    {
        List<double> alone = [];
        List<double> beside = [];
        for (var round = 0; round < rounds && !stop.IsCancellationRequested; round++)
        {
            alone.Add(await LoadAsync(Start(undo, connect, Modest, 8, LoadSeconds), "alone"));
            var greedy = Start(undo, connect, Greedy, 20_000, LoadSeconds + 6);
            if (!await greedy.SaysAsync("connected", TimeSpan.FromSeconds(30)))
                throw new RunException($"the greedy client: {greedy.Output}");
            await Task.Delay(TimeSpan.FromSeconds(2), stop);
            beside.Add(await LoadAsync(Start(undo, connect, Modest, 8, LoadSeconds), "beside"));
            await LoadAsync(greedy, "greedy");
        }

        return Median(beside) / Median(alone);
    }

    private static Child Start(UndoList undo, string connect, string from, int inFlight, int seconds) =>
        Child.Start(undo, null, "loader", [], "dotnet",
            Path.Combine(AppContext.BaseDirectory, "Corfu.FaultRuns.dll"), "loader", "--connect", connect, "--from",
            from, "--in-flight", inFlight.ToString(CultureInfo.InvariantCulture), "--seconds",
            seconds.ToString(CultureInfo.InvariantCulture));

    private async Task<double> LoadAsync(Child loader, string what)
    {
        if (!await loader.SaysAsync(Loader.Mark, TimeSpan.FromSeconds(90)))
            throw new RunException($"the client {what} did not end: {loader.Output}");
        var line = loader.Last(Loader.Mark)!;
        output.WriteLine($"{what}: {line}");
        return Loader.P99Of(line);
    }

    private static double Median(List<double> values) => values.Order().ElementAt(values.Count / 2);
}
