using Corfu.FaultRuns.PowerCuts.Recorded;

namespace Corfu.FaultRuns.Tests;

/// <summary>A share of `power-cuts` (docs/testing-faults.md), and that it can fail.</summary>
public sealed class RecordedCutTests
{
    private const int States = 400;

    [Fact]
    public async Task Acknowledged_requests_survive_any_power_cut()
    {
        var output = new StringWriter();
        using var run = new RecordedCuts(seed: 1, withoutSync: false, output);
        Assert.True(await run.RunAsync(States, stride: 7, TestContext.Current.CancellationToken), output.ToString());
        Assert.True(run.FromCheckpoints > 0, "no start used a checkpoint");
    }

    [Fact]
    public async Task Run_without_syncs_fails()
    {
        var output = new StringWriter();
        using var run = new RecordedCuts(seed: 1, withoutSync: true, output);
        Assert.False(await run.RunAsync(States, stride: 7, TestContext.Current.CancellationToken));
        // Acknowledged things are missing, or the unit itself sees that the log lacks what was durable.
        Assert.Matches("was acknowledged|was durable", output.ToString());
    }
}
