#if PLANTED
using Corfu.Simulation.Checkers;

namespace Corfu.Simulation.Runner;

/// <summary>
/// Hunts planted bugs, several at once, each with a process of its own; seeds that show one are run again without it, in two processes that
/// all hunts share. Bounded by seeds, never by time.
/// </summary>
internal sealed class BugHunt(ulong? start, int finds, int workers, TextWriter output)
{
    private readonly SeedProcess _clean = new(null);
    private readonly SeedProcess _cleanToo = new(null);

    /// <returns>How many were found.</returns>
    public int Run(IReadOnlyList<PlantedBug> bugs)
    {
        int next = -1;
        int found = 0;
        Thread[] threads = [.. Enumerable.Range(0, Math.Min(workers, bugs.Count)).Select(_ => new Thread(() =>
        {
            while (Interlocked.Increment(ref next) is var index && index < bugs.Count)
            {
                if (Find(bugs[index])) Interlocked.Increment(ref found);
            }
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        _clean.Dispose();
        _cleanToo.Dispose();
        return found;
    }

    private bool Find(PlantedBug bug)
    {
        SortedDictionary<string, int> others = [];
        List<ulong> at = [];
        string what = "";
        ulong first = start ?? bug.Hint;
        using var planted = new SeedProcess(bug.Name);
        using SeedProcess? second = bug.Checker == CheckerNames.Determinism ? new SeedProcess(bug.Name) : null;
        for (ulong seed = first; seed < first + PlantedBugs.MostSeeds && at.Count < finds; seed++)
        {
            SeedResult result = planted.Run(seed);
            // The hash gate: the same seed once more, in another process.
            string? violation = second is null
                ? result.Violations.Find(v => v.Checker == bug.Checker)?.What
                : second.Run(seed) is var again && again.Hash != result.Hash ? $"hash {result.Hash:x16} in one process and {again.Hash:x16} in another" : null;
            if (violation is null)
            {
                foreach (Violation other in result.Violations.DistinctBy(v => v.Checker)) others[other.Checker] = others.GetValueOrDefault(other.Checker) + 1;
            }
            else if (PassesWithout(seed))
            {
                if (at.Count == 0) what = violation;
                at.Add(seed);
            }
        }

        Tell(bug, first, at, what, others);
        return at.Count > 0;
    }

    private void Tell(PlantedBug bug, ulong first, List<ulong> at, string what, SortedDictionary<string, int> others)
    {
        string text = at.Count == 0
            ? $"NOT found by {bug.Checker} in {PlantedBugs.MostSeeds} seeds; others fired: {string.Join(", ", others.Select(o => $"{o.Key} {o.Value}"))}"
            : $"found by {bug.Checker} on seed {at[0]}, after {at[0] - first + 1}: {what}";
        if (at.Count > 1)
        {
            ulong[] distances = [.. at.Select((seed, i) => seed - (i == 0 ? first - 1 : at[i - 1])).Order()];
            text = $"found {at.Count} times by {bug.Checker}, median seeds needed {distances[distances.Length / 2]}, at {string.Join(",", at)}";
        }

        lock (output) output.WriteLine($"{bug.Name}: {text}");
    }

    private bool PassesWithout(ulong seed)
    {
        SeedResult first = _clean.Run(seed);
        return !first.Failed && _cleanToo.Run(seed).Hash == first.Hash;
    }
}
#endif
