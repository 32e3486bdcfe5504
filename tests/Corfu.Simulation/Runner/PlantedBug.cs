namespace Corfu.Simulation.Runner;

/// <param name="Checker">The checker that must fire; another's verdict, a crash or a time-out does not count.</param>
/// <param name="Hint">A seed near which it was found last: where a short hunt begins. It proves nothing by itself.</param>
internal sealed record PlantedBug(string Name, string Checker, ulong Hint);
