namespace Corfu.Load;

/// <summary>
/// Rounds of one workload, each beside its baselines, so that all of them met the same machine. Echo has the same
/// transport, sizes, connections and window; the disk baseline is one caller's.
/// </summary>
internal sealed class Campaign(RunParameters parameters, int rounds, string folder)
{
    /// <summary>Workload null measures the echo alone.</summary>
    public async Task<RunReport> RunAsync(string verb, WorkloadKind? kind, string target, bool disk, bool fio)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        var workers = Enumerable.Range(0, parameters.Processes).Select(_ => WorkerProcess.Start()).ToArray();
        try
        {
            var echoTarget = await echo.AddressAsync();
            List<RoundResult> measured = [], echoes = [], disks = [];
            // Connections, tiers of compiled code: not what a round is about.
            await RunRoundAsync(workers, kind ?? WorkloadKind.Echo, kind is null ? echoTarget : target,
                parameters.Seconds / 2);
            for (var i = 0; i < rounds; i++)
            {
                echoes.Add(await RunRoundAsync(workers, WorkloadKind.Echo, echoTarget,
                    kind is null ? parameters.Seconds : parameters.Seconds / 2));
                if (disk)
                    disks.Add(BareDisk.Run(folder, parameters.Size, TimeSpan.FromSeconds(parameters.Seconds / 2)));
                if (kind is { } workload)
                    measured.Add(await RunRoundAsync(workers, workload, target, parameters.Seconds));
            }

            var fioResult =
                disk && fio
                    ? await Fio.RunAsync(folder, parameters.Size, TimeSpan.FromSeconds(parameters.Seconds))
                    : null;
            return Report(verb, kind is null ? echoes : measured, kind is null ? [] : echoes, disks, fioResult);
        }
        finally
        {
            foreach (var worker in workers) worker.Dispose();
        }
    }

    private RunReport Report(string verb, List<RoundResult> measured, List<RoundResult> echoes, List<RoundResult> disks,
        RoundResult? fio)
    {
        var median = RoundResult.Median(measured);
        var echo = echoes.Count > 0 ? RoundResult.Median(echoes) : null;
        var disk = disks.Count > 0 ? RoundResult.Median(disks) : null;
        return new RunReport(
            verb, RunInfo.Current, parameters, median, measured, echo, disk, fio, median.PerSecond / echo?.PerSecond,
            median.P50 / disk?.P50);
    }

    private Task<RoundResult> RunRoundAsync(WorkerProcess[] workers, WorkloadKind kind, string target,
        double seconds) => RunRoundAsync(workers, new WorkerOrder(kind, target, parameters.InFlight, parameters.Size,
            seconds));

    /// <summary>Runs a round by all workers. The order's callers are shared out among them.</summary>
    public static async Task<RoundResult> RunRoundAsync(WorkerProcess[] workers, WorkerOrder order)
    {
        var reports = await Task.WhenAll(workers.Select((worker, index) =>
        {
            var callers = order.Callers / workers.Length + (index < order.Callers % workers.Length ? 1 : 0);
            return worker.RunAsync(order with { Callers = callers });
        }));
        var total = Latencies.Create();
        foreach (var report in reports) total.Add(Latencies.Decode(report.Histogram));
        return RoundResult.Of(total, reports.Max(report => report.Seconds), reports.Sum(report => report.Failures),
            reports.Sum(report => report.Aborted));
    }
}
