using Corfu.Simulation.Checkers;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The planted bugs and the checker that must find each. Found means: that checker fires on some seed, and the same seed passes
/// without the bug, with one hash in two processes; a crash or a time-out does not count.
/// </summary>
public static class PlantedBugs
{
    /// <summary>Seeds tried per bug.</summary>
    public const int MostSeeds = 2000;

    private static readonly PlantedBug[] s_bugs =
    [
        new("unit-acks-before-durable", CheckerNames.UnitDurable, 1),
        new("seal-not-logged", CheckerNames.SealedEpoch, 5),
        new("trim-mark-forgotten", CheckerNames.UnitDurable, 1),
        new("start-not-honoured", CheckerNames.TokenUnique, 1),
        new("ack-at-head", CheckerNames.AckComplete, 1),
        new("retry-without-resolving", CheckerNames.ExactlyOnce, 6),
        new("already-written-is-mine", CheckerNames.AckComplete, 1),
        new("writer-without-sequence", CheckerNames.AckComplete, 27),
        new("fill-at-once", CheckerNames.FillRule, 16),
        new("fill-ungranted", CheckerNames.FillRule, 10),
        new("fill-skips-head", CheckerNames.ChainPrefix, 1),
        new("read-at-head", CheckerNames.ReadCommitted, 1),
        new("unconfirmed-check", CheckerNames.Check, 56),
        new("seal-any-replica", CheckerNames.SealComplete, 1),
        new("tails-from-one-chain", CheckerNames.StreamWalk, 6),
        new("junk-ends-the-walk", CheckerNames.StreamWalk, 27),
        new("no-relearning", CheckerNames.StreamWalk, 62),
        new("one-acceptor-is-enough", CheckerNames.OneProjection, 46),
        new("acceptor-forgets", CheckerNames.OneProjection, 8),
        new("conflict-off-by-one", CheckerNames.Transactions, 2),
        new("tail-counts-as-played", CheckerNames.Transactions, 127),
        new("hash-order", CheckerNames.Determinism, 1),
        new("trim-at-head-only", CheckerNames.TrimComplete, 1),
        new("unit-serves-what-it-has-not-installed", CheckerNames.SealedEpoch, 1),
        new("copy-without-filling", CheckerNames.Membership, 16),
        new("joining-is-read", CheckerNames.Membership, 14),
        new("full-before-it-is-rebuilt", CheckerNames.Membership, 14),
    ];

    /// <summary>Switches a bug on. False, with a message, where this build has none.</summary>
    public static bool Switch(string? name, TextWriter error)
    {
#if PLANTED
        Protocol.Planted.Activate(name);
        return true;
#else
        if (name is null) return true;
        error.WriteLine("no planted bugs in this build: build with -p:Planted=true");
        return false;
#endif
    }

    /// <param name="which">A bug's name, or <c>all</c>.</param>
    /// <param name="start">First seed for every bug; null begins near the seed where each was found last.</param>
    /// <param name="finds">Goes on until each was found so often, and tells the median distance.</param>
    /// <param name="workers">Bugs hunted at once.</param>
    public static int Hunt(string which, ulong? start, int finds, int workers, TextWriter output)
    {
#if PLANTED
        PlantedBug[] bugs = which == "all" ? s_bugs : [.. s_bugs.Where(b => b.Name == which)];
        if (bugs.Length == 0)
        {
            output.WriteLine($"no planted bug is called {which}; there are: {string.Join(", ", s_bugs.Select(b => b.Name))}");
            return 2;
        }

        int found = new BugHunt(start, finds, workers, output).Run(bugs);
        output.WriteLine($"planted {bugs.Length} found {found}");
        return found == bugs.Length ? 0 : 1;
#else
        output.WriteLine("no planted bugs in this build: build with -p:Planted=true");
        return 2;
#endif
    }
}
