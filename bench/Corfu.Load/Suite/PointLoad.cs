namespace Corfu.Load.Suite;

/// <summary>The generator processes of a scenario, and what they load.</summary>
internal sealed class PointLoad(IReadOnlyList<WorkerProcess> workers, string target, string echo)
{
    // On a busy machine a process may get no time in a short round.
    private const int LongerRound = 10;

    /// <summary>Processor seconds of the generators since their start.</summary>
    public double ProcessorSeconds => workers.Sum(static worker => worker.ProcessorTime.TotalSeconds);

    public async Task<IReadOnlyList<PointShare>> RunAsync(PointCase point, TimeSpan length,
        CancellationToken cancellationToken)
    {
        var reports = await SendAsync(point, cancellationToken, part =>
            new WorkerOrder(part.Kind, point.Target ?? target, part.Callers, point.Size, length.TotalSeconds)
            {
                Setting = part.Setting,
                PerSecond = part.PerSecond,
            });
        return
        [
            .. point.Parts.Zip(reports).GroupBy(pair => pair.First.Series ?? point.Series)
                .Select(series => Merge(series.Key, [.. series.Select(pair => pair.Second)])),
        ];
    }

    /// <summary>A round in which some series did nothing is repeated, longer, before it is an error. With failures
    /// it is one at once.</summary>
    /// <param name="begin">Called before each try: counters of the one that counts begin there.</param>
    public async Task<IReadOnlyList<PointShare>> MeasureAsync(PointCase point, TimeSpan length,
        CancellationToken cancellationToken, Action? begin = null)
    {
        foreach (var tried in new[] { length, length * LongerRound })
        {
            begin?.Invoke();
            var shares = await RunAsync(point, tried, cancellationToken);
            if (shares.All(static share => share.Histogram.TotalCount > 0)) return shares;
            if (shares.Sum(static share => share.Failures) is > 0 and var failures)
                throw new CorfuException($"{point.Series}, {point.Label}: {failures} failures, and nothing ended.");
        }

        throw new CorfuException($"{point.Series}, {point.Label}: nothing ended in a round.");
    }

    /// <summary>The bare echo with the same processes and callers.</summary>
    public async Task<RoundResult> EchoAsync(PointCase point, TimeSpan length, CancellationToken cancellationToken)
    {
        foreach (var tried in new[] { length, length * LongerRound })
        {
            var reports = await SendAsync(point, cancellationToken, part =>
                new WorkerOrder(WorkloadKind.Echo, echo, part.Callers, point.Size, tried.TotalSeconds)
                {
                    Setting = new WorkloadSetting { Connections = part.Connections },
                });
            var merged = Merge(point.Series, reports);
            if (merged.Histogram.TotalCount > 0)
                return RoundResult.Of(merged.Histogram, merged.Seconds, merged.Failures);
        }

        throw new CorfuException("The bare echo answered nothing in a round.");
    }

    private async Task<WorkerReport[]> SendAsync(PointCase point, CancellationToken cancellationToken,
        Func<CasePart, WorkerOrder> order) =>
        await Task.WhenAll(point.Parts.Select((part, index) => workers[index].RunAsync(order(part))))
            .WaitAsync(cancellationToken);

    private static PointShare Merge(string series, IReadOnlyList<WorkerReport> reports)
    {
        var total = Latencies.Create();
        foreach (var report in reports) total.Add(Latencies.Decode(report.Histogram));
        return new PointShare(series, total, reports.Max(report => report.Seconds),
            reports.Sum(report => report.Failures), reports.Sum(report => report.Aborted));
    }
}
