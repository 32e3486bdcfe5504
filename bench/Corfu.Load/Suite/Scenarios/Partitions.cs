namespace Corfu.Load.Suite.Scenarios;

/// <summary>More and more processes run transactions, each on a dictionary of its own, or all on one.</summary>
internal sealed class Partitions : IScenario
{
    private const int CallersEach = 16;

    private static readonly int[] s_clients = [1, 2, 4];

    public ScenarioInfo Info { get; } = new("partitions", "Partitions",
        "Transactions that read three and write three of 10,000 keys, 16 in flight from each process: every process "
        + "hosts a dictionary of its own (Tango, Fig. 10 left), or all of them host the same one and play everything.",
        "processes", "commits", [PlotKind.Scaling]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_clients.SelectMany(clients => new[]
        {
            Case("own dictionaries", clients, process => $"partition/{process}"),
            Case("one dictionary", clients, _ => "partition/all") with { InQuick = clients is 2 },
        }), cancellationToken);

    private static PointCase Case(string series, int clients, Func<int, string> name) => PointCase.Even(
        series, clients, $"{clients}", clients, clients * CallersEach, WorkloadKind.KeyTransaction,
        process => new WorkloadSetting { Object = name(process) }) with
    {
        IsDurable = true,
        InQuick = clients is 1 or 2,
    };
}
