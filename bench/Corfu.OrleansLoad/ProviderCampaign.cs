using System.Globalization;
using System.Text.Json;
using Corfu.Load;

namespace Corfu.OrleansLoad;

/// <summary>Rounds over both systems, each beside the baselines; the order alternates.</summary>
internal sealed class ProviderCampaign(LoadPlan plan, string folder)
{
    private const int DiskBytes = LoadPlan.StateBytes;

    private readonly Dictionary<(string System, string Operation), List<RoundResult>> _figures = [];

    /// <summary>Runs everything, prints the table and writes the file.</summary>
    public static async Task<int> RunAsync(LoadPlan plan, string json, CancellationToken cancellationToken)
    {
        string folder = Directory.CreateTempSubdirectory("corfu-orleans-load-").FullName;
        try
        {
            var campaign = new ProviderCampaign(plan, folder);
            string? skipped = await campaign.RunAsync(cancellationToken);
            Report report = campaign.ToReport(skipped);
            await File.WriteAllTextAsync(
                json, JsonSerializer.Serialize(report, JsonSerializerOptions.Web), CancellationToken.None);
            foreach (string line in report.Lines()) await Console.Out.WriteLineAsync(line);
            await Console.Out.WriteLineAsync($"figures={report.Figures.Count} json={json}");
            return 0;
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <returns>Why redis was skipped; null if it was measured.</returns>
    private async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        string? skipped = Systems.RedisMissing;
        if (skipped is not null) await Console.Out.WriteLineAsync($"redis is skipped: {skipped}");
        await using LoadSilo corfu = await Systems.StartCorfuAsync(NewFolder("corfu"), cancellationToken);
        await using LoadSilo? redis =
            skipped is null ? await Systems.StartRedisAsync(NewFolder("redis"), cancellationToken) : null;
        LoadSilo[] silos = redis is null ? [corfu] : [corfu, redis];
        foreach (LoadSilo silo in silos) await MeasureAsync(silo, plan.WarmUp, counts: false, cancellationToken);
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        await using IWorkload workload = Workloads.OpenEcho(await echo.AddressAsync());
        for (int round = 0; round < plan.Rounds; round++)
        {
            await Console.Out.WriteLineAsync($"round {round + 1} of {plan.Rounds}");
            await MeasureBaselinesAsync(workload, cancellationToken);
            foreach (LoadSilo silo in round % 2 == 0 ? silos : silos.Reverse())
                await MeasureAsync(silo, plan.Seconds, counts: true, cancellationToken);
        }

        return skipped;
    }

    private async Task MeasureBaselinesAsync(IWorkload echo, CancellationToken cancellationToken)
    {
        foreach (int callers in LoadPlan.InFlight)
        {
            var operation = echo.Prepare(callers, LoadPlan.StateBytes);
            Add("bare", $"echo, {callers} in flight",
                await LoopAsync(callers, plan.Seconds, operation, cancellationToken));
        }

        Add("bare", "write+fdatasync", BareDisk.Run(folder, DiskBytes, TimeSpan.FromSeconds(plan.Seconds)));
    }

    private async Task MeasureAsync(LoadSilo silo, double seconds, bool counts, CancellationToken cancellationToken)
    {
        var update = await LoopAsync(1, seconds, silo.UpdateMembershipAsync, cancellationToken);
        if (counts) Add(silo.Name, "membership update and read", update);
        foreach (int callers in LoadPlan.InFlight)
        {
            var writes = await LoopAsync(callers, seconds, silo.WriteStateAsync, cancellationToken);
            if (counts) Add(silo.Name, $"state write, {callers} in flight", writes);
        }

        var activations = await silo.ActivateAsync(plan.Activations).WaitAsync(cancellationToken);
        if (counts) Add(silo.Name, "activation with state read", activations);
    }

    private static async Task<RoundResult> LoopAsync(
        int callers, double seconds, Func<int, ValueTask> operation, CancellationToken cancellationToken)
    {
        var (histogram, elapsed, failures) = await ClosedLoop
            .RunAsync(callers, TimeSpan.FromSeconds(seconds), operation).WaitAsync(cancellationToken);
        return RoundResult.Of(histogram, elapsed, failures);
    }

    private void Add(string system, string operation, RoundResult result)
    {
        if (!_figures.TryGetValue((system, operation), out var rounds))
            _figures.Add((system, operation), rounds = []);
        rounds.Add(result);
    }

    private Report ToReport(string? skipped) => new(
        RunInfo.Current, $"Corfu.OrleansLoad {string.Join(' ', Environment.GetCommandLineArgs().Skip(1))}".TrimEnd(),
        plan, skipped, [.. _figures.Select(cell => new Figure(
            cell.Key.System, cell.Key.Operation, RoundResult.Median(cell.Value), cell.Value))]);

    private string NewFolder(string name) => Directory.CreateDirectory(Path.Combine(folder, name)).FullName;
}

/// <summary>The JSON file, and the source of the table.</summary>
/// <param name="RedisSkipped">Why redis was not measured.</param>
internal sealed record Report(
    RunInfo Run, string Command, LoadPlan Plan, string? RedisSkipped, IReadOnlyList<Figure> Figures)
{
    public IEnumerable<string> Lines()
    {
        yield return $"{Run.Machine}; {Run.Runtime}; commit {Run.Commit}; {Command}";
        yield return "Corfu: 3 units, 2 copies of each write, synced; redis: 1 server, appendfsync always.";
        yield return Row("system", "operation", "per second", "p50 us", "p99 us");
        foreach (Figure figure in Figures.OrderBy(figure => figure.Operation).ThenBy(figure => figure.System))
            yield return Row(figure.System, figure.Operation, Number(figure.Median.PerSecond),
                Number(figure.Median.P50), Number(figure.Median.P99));
    }

    private static string Number(double value) => value.ToString("N0", CultureInfo.InvariantCulture);

    private static string Row(string system, string operation, string rate, string p50, string p99) =>
        $"{system,-10} {operation,-28} {rate,12} {p50,10} {p99,10}";
}

/// <param name="Median">Median of the rounds.</param>
internal sealed record Figure(
    string System, string Operation, RoundResult Median, IReadOnlyList<RoundResult> Rounds);
