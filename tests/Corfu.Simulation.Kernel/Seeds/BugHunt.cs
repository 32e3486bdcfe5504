using System.Collections.Concurrent;
using System.Globalization;

namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>
/// Hunts planted bugs, several at once, each worker with a process of its own; seeds that show one are run again
/// without it, in a process that all hunts share. Bounded by seeds that are run, never by time.
/// </summary>
/// <param name="starts">Each bug is hunted from each of these; none: near the seed where it was found last.</param>
/// <param name="most">Seeds per bug and start.</param>
internal sealed class BugHunt(IReadOnlyList<ulong> starts, int most, int workers, TextWriter output)
{
    private readonly SeedProcess _clean = new();
    // Several bugs are found on one seed.
    private readonly ConcurrentDictionary<(string Runs, ulong Seed), Lazy<SeedResult>> _results = [];
    private readonly Dictionary<string, List<int>> _needed = [];

    /// <summary>Seeds needed from each start, by bug; only where it was found from all of them.</summary>
    public IReadOnlyDictionary<string, List<int>> Needed => _needed;

    /// <returns>How many were found.</returns>
    public int Run(IReadOnlyList<PlantedBug> bugs)
    {
        int next = -1;
        int found = 0;
        Thread[] threads = [.. Enumerable.Range(0, Math.Min(workers, bugs.Count)).Select(_ => new Thread(() =>
        {
            using var planted = new SeedProcess();
            while (Interlocked.Increment(ref next) is var index && index < bugs.Count)
            {
                if (FindFromAll(planted, bugs[index])) Interlocked.Increment(ref found);
            }
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        _clean.Dispose();
        return found;
    }

    private bool FindFromAll(SeedProcess planted, PlantedBug bug)
    {
        List<int> needed = [];
        foreach (ulong start in starts.Count > 0 ? starts : [bug.Hint])
        {
            if (Find(planted, bug, start) is not { } seeds) return false;
            needed.Add(seeds);
        }

        lock (output) _needed.Add(bug.Name, needed);
        return true;
    }

    /// <returns>How many seeds it took; null if it was not found.</returns>
    private int? Find(SeedProcess planted, PlantedBug bug, ulong first)
    {
        SortedDictionary<string, int> others = [];
        using SeedProcess? second = bug.Checker == CheckerNames.Determinism ? new SeedProcess() : null;
        int tried = 0;
        long began = TimeProvider.System.GetTimestamp();
        for (ulong seed = first; tried < most; seed++)
        {
            if (!bug.MayShowIn(seed)) continue;
            tried++;
            SeedResult result = planted.Run(bug.Runs, seed, bug);
            // The hash gate: the same seed once more, in another process.
            string? violation = second is null
                ? result.Violations.Find(v => v.Checker == bug.Checker)?.What
                : second.Run(bug.Runs, seed, bug) is var again && again.Hash != result.Hash
                    ? $"hash {result.Hash:x16} in one process and {again.Hash:x16} in another"
                    : null;
            if (violation is null)
            {
                foreach (Violation other in result.Violations.DistinctBy(v => v.Checker))
                    others[other.Checker] = others.GetValueOrDefault(other.Checker) + 1;
            }
            else if (PassesWithout(bug.Runs, seed) && (second is null || HasOneHash(bug.Runs, seed)))
            {
                Tell($"{bug.Name}: found by {bug.Checker} on seed {seed}, "
                    + $"after {tried} in {Since(began)}: {violation}");
                return tried;
            }
        }

        Tell(
            $"{bug.Name}: NOT found by {bug.Checker} in {most} seeds from {first} in {Since(began)}; others fired: "
            + $"{string.Join(", ", others.Select(o => $"{o.Key} {o.Value}"))}");
        return null;
    }

    private static string Since(long began) =>
        string.Create(CultureInfo.InvariantCulture, $"{TimeProvider.System.GetElapsedTime(began).TotalSeconds:F1} s");

    private void Tell(string line)
    {
        lock (output)
        {
            output.WriteLine(line.ReplaceLineEndings(" "));
            output.Flush();
        }
    }

    private bool PassesWithout(string runs, ulong seed) => Clean(runs, seed) is { Failed: false };

    private bool HasOneHash(string runs, ulong seed)
    {
        using var other = new SeedProcess();
        return other.Run(runs, seed).Hash == Clean(runs, seed).Hash;
    }

    private SeedResult Clean(string runs, ulong seed) =>
        _results.GetOrAdd((runs, seed), new Lazy<SeedResult>(() => _clean.Run(runs, seed))).Value;
}
