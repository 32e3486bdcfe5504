namespace Corfu.Peers;

/// <summary>Rounds over all systems, each round beside the baselines. The order is rotated, so that none is always
/// measured first.</summary>
internal sealed class PeerCampaign(IReadOnlyList<TargetRun> runs, RunPlan plan, string folder, TextWriter progress)
{
    public async Task<BaselineReport> RunAsync(CancellationToken cancellationToken)
    {
        await using var baselines = new Baselines(plan, folder);
        for (var round = 0; round < plan.Rounds; round++)
        {
            await progress.WriteLineAsync($"round {round + 1} of {plan.Rounds}: baselines");
            await baselines.MeasureAsync(cancellationToken);
            for (var i = 0; i < runs.Count; i++)
            {
                var run = runs[(i + round) % runs.Count];
                if (run.Fault is not null) continue;
                await progress.WriteLineAsync($"round {round + 1} of {plan.Rounds}: {run.Target.Info.Name}");
                await run.RoundAsync(round, cancellationToken);
                if (run.Fault is { } fault)
                    await progress.WriteLineAsync($"{run.Target.Info.Name} is not compared: {fault}");
            }
        }

        return baselines.Report();
    }
}
