namespace Corfu.Load.Suite.Scenarios;

/// <summary>Cost of a decision for the sequencer, alone in its process.</summary>
internal sealed class DecidedTokens : IScenario
{
    private const int CallersEach = 64;
    private const int Keys = 1_000_000;

    private static readonly int[] s_clients = [1, 4];

    public ScenarioInfo Info { get; } = new("decide-tokens", "Tokens with and without a decision",
        "Single tokens of one stream from a sequencer alone in its process, 64 in flight from each of 1 and 4 "
        + "processes: plain, or of entries that read three and write three of a million keys, evenly chosen, each of "
        + "which the sequencer grants or refuses. Only what it grants counts.",
        "processes", "tokens", [PlotKind.Scaling]);

    public async Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken)
    {
        using var sequencer = BareRoleProcess.Start(BareRoleCommand.Sequencer);
        var cases = s_clients.SelectMany(static clients => new[]
        {
            Case("plain", clients, WorkloadKind.StreamToken),
            Case("decided", clients, WorkloadKind.DecidedToken),
        });
        return new ScenarioResult(await run.MeasureAsync(await sequencer.AddressAsync(), cases, cancellationToken));
    }

    private static PointCase Case(string series, int clients, WorkloadKind kind) => PointCase.Even(
        series, clients, $"{clients}", clients, clients * CallersEach, kind,
        static _ => WorkloadSetting.Default with { Keys = Keys });
}
