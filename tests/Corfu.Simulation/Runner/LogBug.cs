using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <param name="Needs">Plans that may show the bug; null: any plan.</param>
internal sealed record LogBug(
    string Name, string Rule, string What, string Checker, ulong Hint, Func<SeedPlan, bool>? Needs = null)
    : PlantedBug(Name, Rule, What, Checker, Hint)
{
    public override bool MayShowIn(ulong seed) => Needs is null || Needs(SeedPlan.Of(seed));
}
