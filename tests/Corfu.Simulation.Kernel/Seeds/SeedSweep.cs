using System.Reflection;

namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>Many seeds in several processes, and what must hold over all of them.</summary>
public static class SeedSweep
{
    // Every so many seeds, one is run a second time in another process: the hashes must agree.
    private const int RepeatEvery = 20;
    private const int SlowestShown = 10;

    private static string? Program => Assembly.GetEntryAssembly()?.GetName().Name;

    /// <param name="runs">The kind of run; empty: the program's first.</param>
    /// <param name="missing">Situations that the seeds had to reach, and did not.</param>
    public static int Run(ulong start, int seeds, int workers, string runs,
        Func<IReadOnlyCollection<SeedResult>, string[]> missing, TextWriter output)
    {
        ulong[] list = [.. Enumerable.Range(0, seeds).Select(i => start + (ulong)i)];
        var pool = new WorkerPool(workers, runs);
        SeedResult[] results = pool.Run(list, result => Show(result, runs, output));
        ulong[] repeated = [.. list.Where((_, i) => i % RepeatEvery == 0)];
        foreach (SeedResult second in pool.Run(repeated))
        {
            SeedResult first = results[(int)(second.Seed - start)];
            if (first.Hash == second.Hash) continue;
            first.Violations.Add(new(CheckerNames.Determinism,
                $"hash {first.Hash:x16} in one process and {second.Hash:x16} in another"));
            Show(first, runs, output);
        }

        int failed = results.Count(r => r.Failed) + MissingFaults(results, output)
            + ShowSituations(missing(results), output);
        var hash = new TraceHash();
        foreach (SeedResult result in results) hash.Add(result.Hash);
        PrintCoverage(results, output);
        output.WriteLine("most steps, seed (steps): " + string.Join(", ",
            results.OrderByDescending(r => r.Steps).Take(SlowestShown).Select(r => $"{r.Seed} ({r.Steps})")));
        output.WriteLine(
            $"seeds {seeds} failed {failed} operations {results.Sum(r => r.Operations)} faults "
            + $"{results.Sum(r => r.Faults.Values.Sum())} hash {hash.Value:x16}");
        return failed == 0 ? 0 : 1;
    }

    /// <summary>A fault kind that was enabled somewhere and never happened is a hole in the run itself.</summary>
    private static int MissingFaults(SeedResult[] results, TextWriter output)
    {
        int missing = 0;
        foreach (string kind in results.SelectMany(r => r.Enabled).Distinct().Order())
        {
            if (results.Any(r => r.Faults.GetValueOrDefault(kind) > 0)) continue;
            // A handful of seeds may enable a kind once and never get to it; a real run may not.
            if (results.Length < 20 || results.Count(r => r.Enabled.Contains(kind)) < 3) continue;
            output.WriteLine($"fault {kind} was enabled and never occurred");
            missing++;
        }

        return missing;
    }

    private static int ShowSituations(string[] missing, TextWriter output)
    {
        foreach (string situation in missing) output.WriteLine($"situation never reached: {situation}");
        return missing.Length;
    }

    private static void PrintCoverage(SeedResult[] results, TextWriter output)
    {
        foreach ((string title,
            Func<SeedResult, SortedDictionary<string, long>> pick) in new (string,
                Func<SeedResult, SortedDictionary<string, long>>)[]
                 { ("faults", r => r.Faults), ("situations", r => r.Marks) })
        {
            SortedDictionary<string, (long Times, int Seeds)> sum = [];
            foreach ((string name, long count) in results.SelectMany(r => pick(r)))
            {
                (long times, int seeds) = sum.GetValueOrDefault(name);
                sum[name] = (times + count, seeds + 1);
            }

            output.WriteLine(
                $"{title}, times (seeds): {string.Join(", ", sum.Select(p => $"{p.Key} {p.Value.Times} "
                + $"({p.Value.Seeds})"))}");
        }
    }

    private static string Short(string text)
    {
        text = text.ReplaceLineEndings(" ");
        return text.Length <= 600 ? text : text[..600] + "...";
    }

    private static void Show(SeedResult result, string runs, TextWriter output)
    {
        if (!result.Failed) return;
        lock (output)
        {
            output.WriteLine(
                $"seed {result.Seed} FAILED after {result.Operations} operations, {result.Steps} steps, "
                + $"{result.VirtualSeconds:F3} virtual s");
            foreach (Violation violation in result.Violations.Take(5))
                output.WriteLine($"  {Short(violation.ToString())}");
            if (result.Violations.Count > 5) output.WriteLine($"  and {result.Violations.Count - 5} more");
            output.WriteLine(
                $"  replay: dotnet run -c Release --project tests/{Program} -- --seed {result.Seed} --trace"
                + (runs.Length > 0 ? $" --{runs}" : ""));
        }
    }
}
