using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary><c>tls</c>: durable appends to a plain cluster and to an encrypted one, round by round in turns, so that
/// both met the same machine.</summary>
internal static class TlsCommand
{
    private static readonly int[] s_sizes = [128, 4096];
    private static readonly int[] s_windows = [1, 64, 512];

    // Handshakes at once: the limit of one address is higher.
    private const int Dialers = 4;

    public static Command Create()
    {
        var options = new LoadOptions();
        var command = new Command("tls",
            "Appends to a plain cluster and to one with TLS, in turns; processor time of both sides; handshakes.")
        {
            options.Rounds, options.Seconds, options.Processes, options.Units, options.Replicas, options.Directory,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            var shape = new ClusterShape
            {
                Units = result.GetValue(options.Units),
                Replicas = result.GetValue(options.Replicas),
            };
            await using var plain =
                await LoadCluster.StartAsync(shape, Path.Combine(folder.Path, "plain"), cancellationToken);
            await using var encrypted = await LoadCluster.StartAsync(shape with { Tls = true },
                Path.Combine(folder.Path, "tls"), cancellationToken);
            Console.WriteLine(
                $"tls: {plain.Description}; {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
            var workers = Enumerable.Range(0, result.GetValue(options.Processes)).Select(_ => WorkerProcess.Start())
                .ToArray();
            try
            {
                var run = new TlsRun(plain, encrypted, workers, result.GetValue(options.Seconds));
                List<(int Window, double Ratio)> ratios = [];
                foreach (var size in s_sizes)
                {
                    foreach (var window in s_windows)
                    {
                        var ratio = await run.MeasureAsync(size, window, result.GetValue(options.Rounds));
                        if (size == s_sizes[0]) ratios.Add((window, ratio));
                    }
                }

                var handshakes = await HandshakesAsync(encrypted.ConnectionString,
                    TimeSpan.FromSeconds(result.GetValue(options.Seconds)), cancellationToken);
                Console.WriteLine("tls " + string.Join(' ', ratios.Select(ratio => string.Create(
                    CultureInfo.InvariantCulture, $"ratio_{ratio.Window}={ratio.Ratio:0.00}")))
                    + string.Create(CultureInfo.InvariantCulture, $" handshakes={handshakes:0}/s"));
                return 0;
            }
            finally
            {
                foreach (var worker in workers) worker.Dispose();
            }
        });
        return command;
    }

    // Each with a certificate of both sides, and the Hello behind it.
    private static async Task<double> HandshakesAsync(string connectionString, TimeSpan time,
        CancellationToken cancellationToken)
    {
        var connection = ConnectionString.Parse(connectionString);
        var tcp = ConnectionTls.Apply(connection, new TcpTransportOptions(), new TlsOptions(), out var tls);
        using var owned = tls;
        using var transport = new TcpTransport(tcp);
        var began = Stopwatch.GetTimestamp();
        var counts = await Task.WhenAll(Enumerable.Range(0, Dialers).Select(_ => Task.Run(async () =>
        {
            var count = 0;
            while (Stopwatch.GetElapsedTime(began) < time)
            {
                await transport.DescribeAsync(connection.Endpoints[0], cancellationToken);
                count++;
            }

            return count;
        }, cancellationToken)));
        return counts.Sum() / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }
}

/// <summary>The rounds of one size and one number of appends in flight.</summary>
internal sealed class TlsRun(LoadCluster plain, LoadCluster encrypted, WorkerProcess[] workers, double seconds)
{
    /// <returns>The median of the rounds' ratios: appends a second with TLS by appends a second without.</returns>
    public async Task<double> MeasureAsync(int size, int window, int rounds)
    {
        var loading = workers[..Math.Min(workers.Length, window)];
        List<Side> without = [], with = [];
        foreach (var cluster in (LoadCluster[])[plain, encrypted])
            await RoundAsync(cluster, loading, size, window, seconds / 2);
        for (var round = 0; round < rounds; round++)
        {
            // The side that comes first changes, since a disk remembers what was before.
            var plainFirst = round % 2 == 0;
            if (plainFirst) without.Add(await RoundAsync(plain, loading, size, window, seconds));
            with.Add(await RoundAsync(encrypted, loading, size, window, seconds));
            if (!plainFirst) without.Add(await RoundAsync(plain, loading, size, window, seconds));
        }

        Print($"{size} B, {window} in flight, plain", without);
        Print($"{size} B, {window} in flight, TLS", with);
        var ratio = RoundResult.Middle(without.Zip(with, static (a, b) => b.Result.PerSecond / a.Result.PerSecond));
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {size} B, {window} in flight: {ratio:0.00}"));
        return ratio;
    }

    private async Task<Side> RoundAsync(LoadCluster cluster, WorkerProcess[] loading, int size, int window,
        double time)
    {
        var nodes = cluster.ProcessorTime();
        var clients = loading.Sum(worker => worker.ProcessorTime.TotalSeconds);
        var result = await Campaign.RunRoundAsync(loading,
            new WorkerOrder(WorkloadKind.Append, cluster.ConnectionString, window, size, time));
        return new Side(result, (cluster.ProcessorTime() - nodes).TotalSeconds,
            loading.Sum(worker => worker.ProcessorTime.TotalSeconds) - clients);
    }

    private static void Print(string name, List<Side> rounds)
    {
        var median = RoundResult.Median([.. rounds.Select(round => round.Result)]);
        var nodes = RoundResult.Middle(rounds.Select(round => round.PerThousand(round.Nodes)));
        var clients = RoundResult.Middle(rounds.Select(round => round.PerThousand(round.Clients)));
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"  {name,-32} {median.PerSecond,8:0}/s  p50 {median.P50,7:0} us  p99 {median.P99,7:0} us  processor ms "
            + $"per 1,000: nodes {nodes:0.0}, clients {clients:0.0}{(median.Failures == 0 ? "" : "  FAILURES")}"));
    }

    /// <param name="Nodes">Processor seconds of the cluster's processes.</param>
    /// <param name="Clients">Processor seconds of the load generators.</param>
    private sealed record Side(RoundResult Result, double Nodes, double Clients)
    {
        public double PerThousand(double processorSeconds) => processorSeconds * 1e6 / Result.Operations;
    }
}
