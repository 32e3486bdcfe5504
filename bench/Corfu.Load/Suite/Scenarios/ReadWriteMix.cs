namespace Corfu.Load.Suite.Scenarios;

/// <summary>A process writes an object, another reads it, in different shares of the load.</summary>
internal sealed class ReadWriteMix : IScenario
{
    private const int InFlight = 64;
    private const string Object = "mix";

    private static readonly int[] s_percent = [0, 10, 50, 90, 100];

    public ScenarioInfo Info { get; } = new("read-write", "Reads against writes of one object",
        "Two processes host one register; all writes go to one of them, all linearizable reads to the other, 64 in "
        + "flight together (Tango, Fig. 8 middle).",
        "part of the callers that write, %", "operations", [PlotKind.Scaling]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_percent.Select(Case), cancellationToken);

    private static PointCase Case(int percent)
    {
        var writers = InFlight * percent / 100;
        var setting = new WorkloadSetting { Object = Object };
        var parts = new List<CasePart>();
        if (writers > 0)
            parts.Add(new CasePart(WorkloadKind.ObjectUpdate, writers) { Setting = setting, Series = "writes" });
        if (writers < InFlight)
            parts.Add(new CasePart(WorkloadKind.ObjectRead, InFlight - writers)
            {
                Setting = setting,
                Series = "reads",
            });
        return new PointCase("operations", percent, $"{percent}", parts)
        {
            IsDurable = true,
            InQuick = percent is 0 or 50 or 100,
        };
    }
}
