using System.Globalization;

namespace Corfu.Load;

/// <summary>The load generators of a run, and its baselines: the bare echo of the same processes, and one caller's
/// write and fdatasync.</summary>
internal sealed class CraqRig : IDisposable
{
    // The writes begin before the reads that are measured beside them, and end behind them.
    private const double Lead = 0.3;

    private readonly CraqPlan _plan;
    private readonly string _folder;
    private readonly WorkerProcess[] _workers =
        [.. Enumerable.Range(0, CraqPlan.Processes).Select(_ => WorkerProcess.Start())];

    private readonly WorkerProcess _writer = WorkerProcess.Start();
    private readonly BareRoleProcess _echo = BareRoleProcess.Start(BareRoleCommand.Echo);
    private string? _echoTarget;

    public CraqRig(CraqPlan plan, string folder) => (_plan, _folder) = (plan, folder);

    public CraqPlan Plan => _plan;

    /// <summary>Measures every point in every round, beside the baselines of its sizes and windows. Every second round
    /// goes through the points backwards.</summary>
    /// <param name="target">The nodes' connection string.</param>
    public async Task<CraqMeasured> RunAsync(string section, IReadOnlyList<CraqPoint> points, string target,
        CancellationToken cancellationToken)
    {
        var measured = new CraqMeasured(points);
        await WarmUpAsync(points, target, Math.Min(_plan.Seconds, 1));
        for (var round = 0; round < _plan.Rounds; round++)
        {
            foreach (var (inFlight, size) in measured.Echoes.Keys)
                measured.Echoes[(inFlight, size)].Add(await EchoAsync(inFlight, size));
            foreach (var (size, disks) in measured.Disks)
                disks.Add(BareDisk.Run(_folder, size, TimeSpan.FromSeconds(_plan.Seconds / 2)));
            foreach (var point in round % 2 == 0 ? points : points.Reverse())
            {
                cancellationToken.ThrowIfCancellationRequested();
                var sample = await MeasureAsync(point, target, _plan.Seconds);
                measured[point.Name].Add(sample);
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"{section} round {round + 1}/{_plan.Rounds}: {point.Name}: {sample.Result.PerSecond:0}/s, p50 "
                    + $"{sample.Result.P50:0} us, p99 {sample.Result.P99:0} us"));
            }
        }

        return measured;
    }

    /// <summary>Runs each point once, and forgets the figures.</summary>
    public async Task WarmUpAsync(IEnumerable<CraqPoint> points, string target, double seconds)
    {
        foreach (var point in points) await MeasureAsync(point, target, seconds);
    }

    public void Dispose()
    {
        foreach (var worker in _workers) worker.Dispose();
        _writer.Dispose();
        _echo.Dispose();
    }

    private async Task<CraqSample> MeasureAsync(CraqPoint point, string target, double seconds)
    {
        var order = new WorkerOrder(
            point.Kind, point.Target ?? target, point.InFlight, point.Size, seconds)
        { Setting = point.Setting };
        if (point.Beside is not { } writes) return await MeasureAsync(point, order, null);
        var beside = new WorkerOrder(
            WorkloadKind.CraqPut, target, CraqPlan.Window, point.Size, seconds + (2 * Lead))
        {
            Setting = point.Setting with { Object = writes.Object },
            PerSecond = writes.PerSecond,
        };
        var writing = Campaign.RunRoundAsync([_writer], beside);
        await Task.Delay(TimeSpan.FromSeconds(Lead));
        return await MeasureAsync(point, order, writing);
    }

    private async Task<CraqSample> MeasureAsync(CraqPoint point, WorkerOrder order, Task<RoundResult>? writing)
    {
        var loading = _workers[..Math.Min(_workers.Length, point.InFlight)];
        var members = point.Members;
        var (counts, nodes) = (members?.Counts() ?? [], members?.ProcessorSeconds() ?? []);
        var clients = loading.Sum(worker => worker.ProcessorTime.TotalSeconds);
        var result = await Campaign.RunRoundAsync(loading, order);
        var clientSeconds = loading.Sum(worker => worker.ProcessorTime.TotalSeconds) - clients;
        var nodeSeconds = (members?.ProcessorSeconds() ?? []).Zip(nodes, static (after, before) => after - before);
        var counted = (members?.Counts() ?? []).Zip(counts, static (after, before) => after - before);
        return new CraqSample(result, writing is null ? null : await writing, [.. nodeSeconds], clientSeconds,
            [.. counted]);
    }

    private async Task<RoundResult> EchoAsync(int inFlight, int size)
    {
        _echoTarget ??= await _echo.AddressAsync();
        return await Campaign.RunRoundAsync(_workers[..Math.Min(_workers.Length, inFlight)],
            new WorkerOrder(WorkloadKind.Echo, _echoTarget, inFlight, size, _plan.Seconds / 2));
    }
}

/// <summary>The points of a section with their rounds, and the baselines of the same rounds.</summary>
internal sealed class CraqMeasured
{
    private readonly Dictionary<string, CraqRounds> _rounds;

    public CraqMeasured(IReadOnlyList<CraqPoint> points)
    {
        _rounds = points.ToDictionary(point => point.Name, point => new CraqRounds(point));
        Echoes = points.Select(point => (point.InFlight, point.Size)).Distinct()
            .ToDictionary(key => key, _ => new List<RoundResult>());
        Disks = points.Select(point => point.Size).Distinct().ToDictionary(size => size, _ => new List<RoundResult>());
    }

    /// <summary>By callers at once and bytes.</summary>
    public Dictionary<(int InFlight, int Size), List<RoundResult>> Echoes { get; }

    public Dictionary<int, List<RoundResult>> Disks { get; }

    public IEnumerable<CraqRounds> All => _rounds.Values;

    public CraqRounds this[string point] => _rounds[point];

    public RoundResult Echo(CraqPoint point) => RoundResult.Median(Echoes[(point.InFlight, point.Size)]);

    public RoundResult Disk(int size) => RoundResult.Median(Disks[size]);

    /// <summary>The median of the rounds' ratios to the echo of the same round.</summary>
    public double OfEcho(CraqRounds rounds) => RoundResult.Middle(rounds.Samples
        .Zip(Echoes[(rounds.Point.InFlight, rounds.Point.Size)],
            static (own, echo) => own.Result.PerSecond / echo.PerSecond));
}
