namespace Corfu.Load.Suite.Scenarios;

/// <summary>How long a new runtime takes to open a large object from its checkpoint.</summary>
internal sealed class OpenFromCheckpoint : IScenario
{
    private const int EchoInFlight = 64;
    private const int ValueSize = 100;
    private const int FullEntries = 200_000;
    private const int QuickEntries = 20_000;

    public ScenarioInfo Info { get; } = new("open", "Opening from a checkpoint",
        "A new client and runtime open a dictionary of values of 100 bytes from its checkpoint. Counted are "
        + "entries per second from the call to the first answer; the latency is the whole opening. The echo has "
        + "messages of the same size, 64 in flight.", "entries of the dictionary", "entries", [PlotKind.Scaling]);

    public async Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken)
    {
        var entries = run.Settings.Quick ? QuickEntries : FullEntries;
        var cluster = await run.Clusters.SharedAsync(cancellationToken);
        await ObjectOpening.WriteAsync(cluster, entries, entries, ValueSize, cancellationToken);
        await ObjectOpening.CheckpointAsync(cluster);
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        using var worker = WorkerProcess.Start();
        var load = new PointLoad([worker], cluster, await echo.AddressAsync());
        var window = new PointCase("echo", EchoInFlight, "", [new CasePart(WorkloadKind.Echo, EchoInFlight)])
        {
            Size = ValueSize,
        };
        List<RoundResult> opened = [], echoes = [];
        await load.EchoAsync(window, run.Settings.WarmUp, cancellationToken);
        await ObjectOpening.OpenAsync(cluster, entries);
        for (var round = 0; round < run.Settings.Rounds; round++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            echoes.Add(await load.EchoAsync(window, run.Settings.BaselineRound, cancellationToken));
            var seconds = (await ObjectOpening.OpenAsync(cluster, entries)).Seconds;
            opened.Add(new RoundResult(entries, seconds, seconds * 1e6, seconds * 1e6, seconds * 1e6, 0));
        }

        return new ScenarioResult(
            [new PointReport("open", entries, $"{entries:N0}", Baseline.Echo, opened, echoes, [], [])]);
    }
}
