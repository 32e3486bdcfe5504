namespace Corfu.Load.Suite.Scenarios;

/// <summary>More and more processes read one object, while one writes it at a held rate.</summary>
internal sealed class Elasticity : IScenario
{
    private const int Callers = 8;
    private const double ReadsPerSecond = 2000;
    private const double WritesPerSecond = 1000;

    private static readonly int[] s_clients = [1, 2, 4, 8];

    public ScenarioInfo Info { get; } = new("elasticity", "Readers of one object",
        "1 to 8 processes host one register and read it linearizably, each at a held rate of 2,000 reads/s; one more "
        + "process writes it at 1,000 writes/s (Tango, Fig. 8 right). The echo is not held to a rate.",
        "reading processes", "operations", [PlotKind.Scaling, PlotKind.Percentiles]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_clients.Select(Case), cancellationToken);

    private static PointCase Case(int clients)
    {
        var setting = new WorkloadSetting { Object = "elastic" };
        var writer = new CasePart(WorkloadKind.ObjectUpdate, Callers)
        {
            Setting = setting,
            PerSecond = WritesPerSecond,
            Series = "writes",
        };
        var reader = new CasePart(WorkloadKind.ObjectRead, Callers)
        {
            Setting = setting,
            PerSecond = ReadsPerSecond,
            Series = "reads",
        };
        return new PointCase("operations", clients, $"{clients}", [writer, .. Enumerable.Repeat(reader, clients)])
        {
            InQuick = clients is 1 or 2,
        };
    }
}
