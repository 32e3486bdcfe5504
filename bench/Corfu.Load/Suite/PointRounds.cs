using HdrHistogram;

namespace Corfu.Load.Suite;

/// <summary>
/// Rounds of several points, each beside its baselines, so that all of them met the same machine. Every second round
/// goes through the points from the last to the first: what changes slowly does not favour the early ones.
/// </summary>
internal sealed class PointRounds(SuiteSettings settings, string folder, Action<string> say)
{
    public async Task<IReadOnlyList<PointReport>> RunAsync(string target, IReadOnlyList<PointCase> cases,
        CancellationToken cancellationToken)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        var workers = new List<WorkerProcess>();
        try
        {
            while (workers.Count < cases.Max(one => one.Parts.Count)) workers.Add(WorkerProcess.Start());
            var load = new PointLoad(workers, target, await echo.AddressAsync());
            foreach (var one in cases) await load.RunAsync(one, settings.WarmUp, cancellationToken);
            foreach (var one in cases.DistinctBy(one => one.EchoKey))
                await load.EchoAsync(one, settings.BaselineRound / 2, cancellationToken);
            var recorders = cases.Select(one => new PointRecorder(one)).ToArray();
            for (var round = 0; round < settings.Rounds; round++)
            {
                say($"  round {round + 1} of {settings.Rounds}, {cases.Count} points");
                await RoundAsync(load, round % 2 == 0 ? recorders : [.. recorders.Reverse()], cancellationToken);
            }

            return [.. recorders.SelectMany(recorder => recorder.Reports())];
        }
        finally
        {
            foreach (var worker in workers) worker.Dispose();
        }
    }

    private async Task RoundAsync(PointLoad load, PointRecorder[] recorders, CancellationToken cancellationToken)
    {
        var echoes = new Dictionary<string, RoundResult>();
        var disks = new Dictionary<int, RoundResult>();
        foreach (var recorder in recorders)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var point = recorder.Case;
            if (!echoes.TryGetValue(point.EchoKey, out var echo))
                echoes.Add(point.EchoKey,
                    echo = await load.EchoAsync(point, settings.BaselineRound, cancellationToken));
            RoundResult? disk = null;
            if (point.IsDurable && !disks.TryGetValue(point.Size, out disk))
                disks.Add(point.Size, disk = BareDisk.Run(folder, point.Size, settings.BaselineRound));
            var (servers, generators) = ((double?)null, 0.0);
            var shares = await load.MeasureAsync(point, settings.Round, cancellationToken,
                () => (servers, generators) = (point.Servers?.Invoke(), load.ProcessorSeconds));
            recorder.Add(shares, echo, disk, new PointCost(
                (point.Servers?.Invoke() - servers) ?? 0, load.ProcessorSeconds - generators));
        }
    }
}

/// <summary>Figures of the processes of one series in one round.</summary>
internal sealed record PointShare(string Series, LongHistogram Histogram, double Seconds, long Failures, long Aborted);
