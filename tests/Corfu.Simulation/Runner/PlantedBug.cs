namespace Corfu.Simulation.Runner;

/// <param name="Rule">What it breaks: rules of docs/rules.md, or an invariant there that has no number.</param>
/// <param name="What">What the product does wrong with it, in a few words.</param>
/// <param name="Checker">The checker that must fire; another's verdict, a crash or a time-out does not count.</param>
/// <param name="Hint">A seed near which it was found last: where a short hunt begins. It proves nothing by
/// itself.</param>
internal sealed record PlantedBug(string Name, string Rule, string What, string Checker, ulong Hint);
