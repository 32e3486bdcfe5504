using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>Seeds of ZooKeeper's front ends: the log, its faults and its audit are those of the other runs.</summary>
internal static class ZooKeeperRun
{
    /// <summary>Name of this kind of run.</summary>
    public const string Kind = "zookeeper";

    // Within so many seeds each of them occurs.
    private const int EnoughSeeds = 100;

    private static readonly string[] s_situations =
    [
        "zookeeper ephemerals ended",
        "zookeeper expiry lost to a sign of life",
        "zookeeper front end taken for dead",
        "zookeeper multi across partitions aborted",
        "zookeeper multi across partitions committed",
        "zookeeper multi across partitions failed",
        "zookeeper multi failed",
        "zookeeper path mounted",
        "zookeeper record lost to a mount",
        "zookeeper log trimmed",
        "zookeeper sequence",
        "zookeeper session created",
        "zookeeper session expired",
        "zookeeper session moved",
        "zookeeper tree loaded anew",
        "zookeeper tree overtaken by a trim",
        "zookeeper watch heard",
        "zookeeper watches set again",
        "zookeeper write in doubt",
        "zookeeper write of a moved session",
    ];

    /// <param name="endAt">The run may end where this checker fires; null: never.</param>
    public static SeedResult Run(ulong seed, Action<string>? trace, string? endAt = null) =>
        SeedRunner.Run(ZooKeeperPlan.Of(seed).Log, trace, endAt);

    /// <summary>Runs one seed in this process, with output for people.</summary>
    public static int Show(ulong seed, bool trace, TextWriter output)
    {
        output.WriteLine($"plan: {ZooKeeperPlan.Of(seed)}");
        return SingleSeed.Show(Run(seed, trace ? output.WriteLine : null), output);
    }

    public static string[] MissingIn(IReadOnlyCollection<SeedResult> results, params IEnumerable<string> also)
    {
        var required = results.Count >= EnoughSeeds ? also.Concat(s_situations) : also;
        return [.. required.Where(situation => !results.Any(result => result.Marks.ContainsKey(situation)))];
    }
}
