using Corfu.FaultRuns.Returns;

namespace Corfu.FaultRuns.Tests;

/// <summary>A share of `returns` and `bit-flips` (docs/testing-faults.md), with real processes.</summary>
public sealed class ReturnTests
{
    private const int Flips = 120;

    [Fact]
    public async Task A_unit_that_was_killed_and_taken_out_comes_back_as_a_full_replica()
    {
        var output = new StringWriter();
        var code = await new ReturnsRun(kills: 1, seed: 1, output).RunAsync(TestContext.Current.CancellationToken);
        Assert.True(code == 0, output.ToString());
        Assert.Contains("returns kills=1 removed=0 lost=0 twice=0 in_use=all", output.ToString());
    }

    [Fact]
    public async Task A_cluster_whose_unit_has_a_damaged_log_serves_and_becomes_whole()
    {
        var output = new StringWriter();
        var run = new BitFlipRun(Flips, batch: Flips, seed: 1, output);
        var code = await run.RunAsync(TestContext.Current.CancellationToken);
        Assert.True(code == 0, output.ToString());
        Assert.True(run.Refused > 0, "no flip kept the unit from starting: " + output);
    }
}
