using System.Collections.Immutable;

namespace Corfu.ModelCheck.Engine;

/// <param name="Depth">Moves of the longest of the shortest ways; every interleaving of that many moves was looked at,
/// or of one fewer if not exhausted.</param>
/// <param name="Violation">Null: none.</param>
/// <param name="Trace">The shortest way to the violation.</param>
public sealed record SearchResult(
    string Scenario, long States, long Moves, int Depth, bool Exhausted, string? Violation,
    ImmutableArray<string> Trace, TimeSpan Time);
