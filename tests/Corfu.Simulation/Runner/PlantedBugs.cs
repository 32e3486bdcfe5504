using Corfu.Simulation.Checkers;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The planted bugs and the checker that must find each. Found means: that checker fires on some seed, and the same seed passes
/// without the bug; a crash or a time-out does not count.
/// </summary>
public static class PlantedBugs
{
    /// <summary>Seeds tried per bug.</summary>
    public const int MostSeeds = 2000;

    private static readonly (string Name, string Checker)[] s_bugs =
    [
        ("unit-acks-before-durable", CheckerNames.UnitDurable),
        ("seal-not-logged", CheckerNames.SealedEpoch),
        ("trim-mark-forgotten", CheckerNames.UnitDurable),
        ("start-not-honoured", CheckerNames.TokenUnique),
        ("ack-at-head", CheckerNames.AckComplete),
        ("retry-without-resolving", CheckerNames.ExactlyOnce),
        ("already-written-is-mine", CheckerNames.AckComplete),
        ("writer-without-sequence", CheckerNames.AckComplete),
        ("fill-at-once", CheckerNames.FillRule),
        ("fill-ungranted", CheckerNames.FillRule),
        ("fill-skips-head", CheckerNames.ChainPrefix),
        ("read-at-head", CheckerNames.ReadCommitted),
        ("unconfirmed-check", CheckerNames.Check),
        ("seal-any-replica", CheckerNames.SealComplete),
        ("tails-from-one-chain", CheckerNames.StreamWalk),
        ("junk-ends-the-walk", CheckerNames.StreamWalk),
        ("no-relearning", CheckerNames.StreamWalk),
        ("one-acceptor-is-enough", CheckerNames.OneProjection),
        ("acceptor-forgets", CheckerNames.OneProjection),
        ("conflict-off-by-one", CheckerNames.Transactions),
        ("tail-counts-as-played", CheckerNames.Transactions),
        ("hash-order", CheckerNames.Determinism),
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

    public static int Hunt(string which, int workers, TextWriter output)
    {
#if PLANTED
        (string Name, string Checker)[] bugs = which == "all" ? s_bugs : [.. s_bugs.Where(b => b.Name == which)];
        if (bugs.Length == 0)
        {
            output.WriteLine($"no planted bug is called {which}; there are: {string.Join(", ", s_bugs.Select(b => b.Name))}");
            return 2;
        }

        int found = bugs.Count(bug => Find(bug.Name, bug.Checker, workers, output));
        output.WriteLine($"planted {bugs.Length} found {found}");
        return found == bugs.Length ? 0 : 1;
#else
        output.WriteLine("no planted bugs in this build: build with -p:Planted=true");
        return 2;
#endif
    }

#if PLANTED
    private static bool Find(string name, string checker, int workers, TextWriter output)
    {
        SortedDictionary<string, int> others = [];
        ulong next = 1;
        while (next <= MostSeeds)
        {
            ulong[] batch = [.. Enumerable.Range(0, 20).Select(i => next + (ulong)i)];
            next += (ulong)batch.Length;
            foreach (SeedResult result in RunBatch(batch, name, checker, workers))
            {
                if (result.Violations.Any(v => v.Checker == checker))
                {
                    if (PassesWithout(result.Seed))
                    {
                        output.WriteLine($"{name}: found by {checker} on seed {result.Seed}: {result.Violations.First(v => v.Checker == checker).What}");
                        return true;
                    }
                }
                else
                {
                    foreach (Violation other in result.Violations) others[other.Checker] = others.GetValueOrDefault(other.Checker) + 1;
                }
            }
        }

        output.WriteLine($"{name}: NOT found by {checker} in {MostSeeds} seeds; others fired: {string.Join(", ", others)}");
        return false;
    }

    private static IEnumerable<SeedResult> RunBatch(ulong[] batch, string name, string checker, int workers)
    {
        using var pool = new WorkerPool(workers, name);
        SeedResult[] results = pool.Run(batch);
        if (checker != CheckerNames.Determinism) return results;

        // The hash gate: the same seeds once more, in other processes.
        using var second = new WorkerPool(workers, name);
        foreach ((SeedResult a, SeedResult b) in results.Zip(second.Run(batch)))
        {
            if (a.Hash != b.Hash) a.Violations.Add(new(CheckerNames.Determinism, $"hash {a.Hash:x16} in one process and {b.Hash:x16} in another"));
        }

        return results;
    }

    private static bool PassesWithout(ulong seed)
    {
        using var pool = new WorkerPool(1, null);
        SeedResult first = pool.Run([seed])[0];
        using var other = new WorkerPool(1, null);
        return !first.Failed && other.Run([seed])[0].Hash == first.Hash;
    }
#endif
}
