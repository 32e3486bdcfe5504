using System.Diagnostics;
using Corfu.Client;
using Corfu.Hosting;

namespace Corfu.Load.Suite.Scenarios;

/// <summary>Appends per 10 ms while a unit is killed and the agents replace it.</summary>
internal sealed class Reconfiguration : IScenario
{
    private const int Appenders = 64;
    private const int Size = 128;

    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan s_quickWarmUp = TimeSpan.FromSeconds(1.5);

    public ScenarioInfo Info { get; } = new("reconfiguration", "A unit is killed",
        "64 appenders on a cluster of three units, two replicas, a spare and a standby sequencer. The head of a "
        + "chain is killed; the agents find it and put the spare in (CORFU's reconfiguration). Each round has a "
        + "cluster of its own. The outage is the longest time without an appended entry; time-outs decide it, so it "
        + "has no baseline.",
        "when", "appends", [PlotKind.Timeline]);

    public async Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        using var worker = WorkerProcess.Start();
        var load = new PointLoad([worker], "", await echo.AddressAsync());
        var window = new PointCase("echo", Appenders, "", [new CasePart(WorkloadKind.Echo, Appenders)]) { Size = Size };
        await load.EchoAsync(window, run.Settings.WarmUp, cancellationToken);
        List<RoundResult> before = [], outages = [], echoes = [], disks = [];
        var timelines = new List<Timeline>();
        for (var round = 0; round < run.Settings.Rounds; round++)
        {
            echoes.Add(await load.EchoAsync(window, run.Settings.BaselineRound, cancellationToken));
            disks.Add(BareDisk.Run(run.Folder, Size, run.Settings.BaselineRound));
            var (throughput, timeline) = await KillAsync(run, cancellationToken);
            before.Add(throughput);
            timelines.Add(timeline);
            var outage = timeline.OutageMilliseconds;
            outages.Add(new RoundResult(1, outage / 1e3, outage * 1e3, outage * 1e3, outage * 1e3, 0));
            run.Say($"  round {round + 1} of {run.Settings.Rounds}: {outage:0} ms without an append");
        }

        return new ScenarioResult(
            [
                new PointReport("appends", 0, "before the kill", Baseline.Echo, before, echoes, disks, []),
                new PointReport("outages", 1, "after the kill", Baseline.None, outages, [], [], []),
            ],
            timelines);
    }

    private static async Task<(RoundResult Before, Timeline Timeline)> KillAsync(SuiteRun run,
        CancellationToken cancellationToken)
    {
        await using var cluster = await run.Clusters.StartAsync(
            new ClusterShape { Units = 3, Replicas = 2, Spares = 1, Sequencers = 2 }, cancellationToken);
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString,
            cancellationToken: cancellationToken);
        await using var appends = new TimedAppends(client, Appenders, Size);
        await Task.Delay(run.Settings.Quick ? s_quickWarmUp : s_warmUp, cancellationToken);
        var projection = client.Projection;
        var head = projection.AddressOf(projection.Active.Chains[0].Head).Endpoint;
        using (var victim = Process.GetProcessById(cluster.ProcessAt(head)))
        {
            appends.Mark();
            victim.Kill();
        }

        await appends.UntilResumedAsync(cancellationToken);
        return await appends.FinishAsync("unit killed");
    }
}
