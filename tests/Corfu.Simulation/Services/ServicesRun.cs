using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;

namespace Corfu.Simulation.Services;

/// <summary>Seeds of services on the log: its faults and its audit are those of the other runs.</summary>
internal static class ServicesRun
{
    /// <summary>Name of this kind of run.</summary>
    public const string Kind = "services";

    // Within so many seeds each of them occurs.
    private const int EnoughSeeds = 100;

    private static readonly string[] s_situations =
    [
        "ledger closed by its writer",
        "ledger created under an old id",
        "ledger deleted",
        "ledger moved",
        "ledger recovered under its writer",
        "ledger trimmed below",
        "ledger writer met a fence",
        "machine command in doubt",
        "machine command sent by two",
        "machine duplicate suppressed",
        "machine replica restored",
        "machine session gone",
        "machine session moved",
        "machine snapshot written",
        "machine trimmed below",
        "store compacted",
        "store condition of a value failed",
        "store lease expired",
        "store past read",
        "store trimmed below",
        "store values moved",
        "store write in doubt",
        "store write resolved",
    ];

    /// <param name="endAt">The run may end where this checker fires; null: never.</param>
    public static SeedResult Run(ulong seed, Action<string>? trace, string? endAt = null) =>
        SeedRunner.Run(ServicesPlan.Of(seed).Log, trace, endAt);

    /// <summary>Runs one seed in this process, with output for people.</summary>
    public static int Show(ulong seed, bool trace, TextWriter output)
    {
        output.WriteLine($"plan: {ServicesPlan.Of(seed)}");
        return SingleSeed.Show(Run(seed, trace ? output.WriteLine : null), output);
    }

    public static string[] MissingIn(IReadOnlyCollection<SeedResult> results, params IEnumerable<string> also)
    {
        var required = results.Count >= EnoughSeeds ? also.Concat(s_situations) : also;
        return [.. required.Where(situation => !results.Any(result => result.Marks.ContainsKey(situation)))];
    }
}
