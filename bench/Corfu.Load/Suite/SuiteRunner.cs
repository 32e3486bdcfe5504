using System.Diagnostics;

namespace Corfu.Load.Suite;

/// <summary>Runs scenarios one after the other. One that fails is reported with its error, and the others go
/// on.</summary>
internal sealed class SuiteRunner(SuiteRun run)
{
    /// <param name="measured">Gets everything there is after each scenario.</param>
    /// <returns>False if it was cancelled; what was measured until then is kept.</returns>
    public async Task<bool> RunAsync(IReadOnlyList<IScenario> scenarios,
        Func<IReadOnlyList<ScenarioReport>, Task> measured, CancellationToken cancellationToken)
    {
        var reports = new List<ScenarioReport>();
        foreach (var scenario in scenarios)
        {
            if (cancellationToken.IsCancellationRequested) return false;
            run.Say($"[{reports.Count + 1}/{scenarios.Count}] {scenario.Info.Name}: {scenario.Info.Title}");
            var report = await RunAsync(scenario, cancellationToken);
            if (report.Error is { } error) run.Say($"  failed: {error}");
            reports.Add(report);
            await measured(reports);
        }

        return !cancellationToken.IsCancellationRequested;
    }

    private async Task<ScenarioReport> RunAsync(IScenario scenario, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        string error;
        try
        {
            var result = await scenario.RunAsync(run, cancellationToken);
            return new ScenarioReport(scenario.Info, result.Points, result.Timelines, SecondsSince(started));
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            error = "interrupted";
        }
        catch (Exception e)
        {
            error = $"{e.GetType().Name}: {e.Message}";
        }

        // The failure may have damaged the cluster for the next scenario.
        await run.Clusters.StopSharedAsync();
        return new ScenarioReport(scenario.Info, [], [], SecondsSince(started), error);
    }

    private static double SecondsSince(long started) => Stopwatch.GetElapsedTime(started).TotalSeconds;
}
