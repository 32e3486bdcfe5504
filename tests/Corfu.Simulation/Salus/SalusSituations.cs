using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Salus;

/// <summary>The block store's named situations: a run of enough seeds fails when it misses one.</summary>
internal static class SalusSituations
{
    /// <summary>Within so many seeds each of <see cref="Common"/> occurs.</summary>
    public const int EnoughSeeds = 200;

    public static readonly string[] Common =
    [
        "batch of several regions",
        "opening logged",
        "prefix above all proofs",
        "recovery superseded",
        "region recovered",
        "region replaced",
        "run decided",
        "volume mounted",
    ];

    public static string[] MissingIn(IReadOnlyCollection<SeedResult> results, params IEnumerable<string> also)
    {
        var required = results.Count >= EnoughSeeds ? also.Concat(Common) : also;
        return [.. required.Where(situation => !results.Any(result => result.Marks.ContainsKey(situation)))];
    }
}
