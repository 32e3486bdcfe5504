using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <summary>Runs one seed in this process, with output for people.</summary>
public static class SingleSeed
{
    public static int Run(ulong seed, bool trace, TextWriter output)
    {
        SeedPlan plan = SeedPlan.Of(seed);
        output.WriteLine($"plan: {plan}");
        return Show(SeedRunner.Run(plan, trace ? output.WriteLine : null), output);
    }

    /// <returns>The exit code.</returns>
    public static int Show(SeedResult result, TextWriter output)
    {
        output.WriteLine($"enabled: {string.Join(", ", result.Enabled)}");
        output.WriteLine($"faults: {string.Join(", ", result.Faults.Select(f => $"{f.Key} {f.Value}"))}");
        output.WriteLine($"situations: {string.Join(", ", result.Marks.Select(f => $"{f.Key} {f.Value}"))}");
        foreach (Violation violation in result.Violations) output.WriteLine(violation);
        output.WriteLine(
            $"seed {result.Seed} {(result.Failed ? "FAILED" : "passed")} operations {result.Operations} steps "
            + $"{result.Steps} virtual seconds {result.VirtualSeconds:F3} hash {result.Hash:x16}");
        return result.Failed ? 1 : 0;
    }
}
