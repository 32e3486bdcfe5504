using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Craq;

/// <summary>The object store's named situations: a run of enough seeds fails when it misses one.</summary>
internal static class CraqSituations
{
    /// <summary>Within so many seeds each of <see cref="Common"/> occurs.</summary>
    public const int EnoughSeeds = 200;

    public static readonly string[] Common =
    [
        "compare failed",
        "dirty version shown",
        "disk lost, new identity",
        "disk lost, same identity",
        "epoch opened",
        "expired object deleted",
        "index checkpoint restored",
        "learner promoted",
        "mark told beside the chain",
        "mutated",
        "read Bounded",
        "read Eventual",
        "read Session",
        "read Strong",
        "record passed on without its values",
        "segment cleaned",
        "transaction aborted",
        "transaction committed",
        "write repeated",
    ];

    public static string[] MissingIn(IReadOnlyCollection<SeedResult> results, params IEnumerable<string> also)
    {
        var required = results.Count >= EnoughSeeds ? also.Concat(Common) : also;
        return [.. required.Where(situation => !results.Any(result => result.Marks.ContainsKey(situation)))];
    }
}
