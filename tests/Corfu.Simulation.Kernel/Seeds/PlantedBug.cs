using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <param name="Rule">Rules of docs/rules.md that the bug breaks, or an invariant there that has no number.</param>
/// <param name="What">Mistake of the product with the bug, in a few words.</param>
/// <param name="Checker">The checker that must fire; another's verdict, a crash or a time-out does not count.</param>
/// <param name="Hint">A seed near which it was found last: where a short hunt begins. It proves nothing by
/// itself.</param>
/// <param name="Needs">False for plans without what the bug sits in: their seeds are passed over. Null: any plan may
/// show it.</param>
internal sealed record PlantedBug(
    string Name, string Rule, string What, string Checker, ulong Hint, Func<SeedPlan, bool>? Needs = null)
{
    public bool MayShowIn(ulong seed) => Needs is null || Needs(SeedPlan.Of(seed));
}
