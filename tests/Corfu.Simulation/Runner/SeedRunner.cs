using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <summary>Runs one seed from its first event to the verdicts of all checkers.</summary>
public static class SeedRunner
{
    /// <summary>A seed that acknowledged less than this proved nothing.</summary>
    public const long FewestOperations = 200;

    /// <param name="endAt">The run may end where this checker fires; null: never.</param>
    public static SeedResult Run(ulong seed, Action<string>? trace, string? endAt = null) =>
        Run(SeedPlan.Of(seed), trace, endAt);

    /// <param name="prepare">Called with the cluster before its first event.</param>
    public static SeedResult Run(SeedPlan plan, Action<string>? trace, string? endAt = null,
        Action<SimCluster>? prepare = null)
    {
        var run = new SimulationRun(plan, trace) { EndAt = endAt };
        prepare?.Invoke(run.Cluster);
        run.Execute();
        World world = run.World;
        List<Violation> violations = [.. run.Cluster.Monitor.Violations, .. run.Violations, .. run.Verdicts()];
        violations.AddRange(world.Failures.Select(f => new Violation(CheckerNames.Unhandled, f)));
        if (violations.Count == 0 && run.Ledger.Acknowledged < FewestOperations)
        {
            violations.Add(new(CheckerNames.Liveness, $"only {run.Ledger.Acknowledged} operations were acknowledged"));
        }

        return new SeedResult
        {
            Seed = plan.Seed,
            Hash = world.Hash.Value,
            Operations = run.Ledger.Acknowledged,
            Steps = world.Steps,
            VirtualSeconds = world.Now / (double)TimeSpan.TicksPerSecond,
            Violations = violations,
            Marks = run.Cluster.Monitor.Marks,
            Faults = run.Nemesis.Counts,
            Enabled = [.. plan.Faults.Select(fault => $"{fault}")],
        };
    }
}
