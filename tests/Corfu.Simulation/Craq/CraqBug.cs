using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Craq;

/// <param name="Needs">Plans that may show the bug; null: any plan.</param>
internal sealed record CraqBug(
    string Name, string Rule, string What, string Checker, ulong Hint, Func<CraqPlan, bool>? Needs = null)
    : PlantedBug(Name, Rule, What, Checker, Hint)
{
    public override string Runs => CraqRun.Kind;

    public override bool MayShowIn(ulong seed) => Needs is null || Needs(CraqPlan.Of(seed));
}
