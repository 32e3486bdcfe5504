namespace Corfu.Load.Suite.Scenarios;

/// <summary>Tokens of a sequencer that is alone in its process.</summary>
internal sealed class Tokens : IScenario
{
    private const int CallersEach = 16;

    private static readonly int[] s_clients = [1, 2, 4, 8];

    public ScenarioInfo Info { get; } = new("tokens", "Tokens of the sequencer",
        "Single tokens from a sequencer alone in its process, 16 in flight from each of 1 to 8 processes; no batching "
        + "(Tango, Fig. 2).", "processes", "tokens", [PlotKind.Scaling, PlotKind.Percentiles]);

    public async Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken)
    {
        using var sequencer = BareRoleProcess.Start(BareRoleCommand.Sequencer);
        var cases = s_clients.Select(clients => PointCase.Even("token", clients, $"{clients}", clients,
            clients * CallersEach, WorkloadKind.Token) with
        {
            InQuick = clients is 1 or 2,
        });
        return new ScenarioResult(await run.MeasureAsync(await sequencer.AddressAsync(), cases, cancellationToken));
    }
}
