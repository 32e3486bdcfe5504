using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Salus;

/// <param name="Needs">Plans that may show the bug; null: any plan.</param>
internal sealed record SalusBug(
    string Name, string Rule, string What, string Checker, ulong Hint, Func<SalusPlan, bool>? Needs = null)
    : PlantedBug(Name, Rule, What, Checker, Hint)
{
    public override string Runs => SalusRun.Kind;

    public override bool MayShowIn(ulong seed) => Needs is null || Needs(SalusPlan.Of(seed));
}
