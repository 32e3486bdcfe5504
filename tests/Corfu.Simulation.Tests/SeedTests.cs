using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Corfu.Simulation.Tests;

/// <summary>The simulator's commands on short seeds; thousands of seeds are a command of their own
/// (docs/testing-simulator.md).</summary>
public sealed class SeedTests
{
    [Fact]
    public void Seed_passes_and_repeats_exactly_in_another_process()
    {
        string first = Simulate("--seeds", "1", "--start", "4");
        string second = Simulate("--seeds", "1", "--start", "4");
        Assert.Matches("seeds 1 failed 0 operations [0-9]+ faults [0-9]+ hash [0-9a-f]{16}", first);
        Assert.Equal(HashOf(first), HashOf(second));
        Assert.NotEqual(HashOf(first), HashOf(Simulate("--seeds", "1", "--start", "8")));
    }

    [Fact]
    public void Plans_that_once_found_a_bug_pass() => Assert.Contains(" failed 0", Simulate("--regressions"));

    [Fact]
    public void A_run_that_misses_a_required_situation_fails()
    {
        (int code, string output) = Run("--seeds", "1", "--start", "4", "--require", "unit sealed", "--require",
            "pigs fly");
        Assert.Equal(1, code);
        Assert.Contains("situation never reached: pigs fly", output);
        Assert.DoesNotContain("never reached: unit sealed", output);
        Assert.Contains("seeds 1 failed 1 ", output);
    }

    private static string HashOf(string output) => Regex.Match(output, "hash ([0-9a-f]{16})").Groups[1].Value;

    private static string Simulate(params string[] arguments)
    {
        (int code, string output) = Run(arguments);
        Assert.True(code == 0, output);
        return output;
    }

    private static (int Code, string Output) Run(params string[] arguments)
    {
        // A process of its own: the simulator needs a thread pool with one worker, the test host does not have one.
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true };
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, "Corfu.Simulation.dll"));
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        using Process process = Process.Start(start)!;
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output);
    }
}
