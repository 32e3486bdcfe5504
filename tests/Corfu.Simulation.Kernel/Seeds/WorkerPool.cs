namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>Runs seeds in several processes; each is handed out as a process becomes free. Results come back in the
/// order of the seeds.</summary>
public sealed class WorkerPool(int workers, string runs)
{
    public SeedResult[] Run(IReadOnlyList<ulong> seeds, Action<SeedResult>? onResult = null)
    {
        var results = new SeedResult[seeds.Count];
        int next = -1;
        Thread[] threads = [.. Enumerable.Range(0, Math.Min(workers, seeds.Count)).Select(_ => new Thread(() =>
        {
            using var child = new SeedProcess();
            while (Interlocked.Increment(ref next) is var index && index < seeds.Count)
            {
                results[index] = child.Run(runs, seeds[index]);
                onResult?.Invoke(results[index]);
            }
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        return results;
    }
}
