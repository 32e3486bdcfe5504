using System.Diagnostics;
using System.Text.Json;

namespace Corfu.Simulation.Runner;

/// <summary>
/// Child processes of this program that run one seed at a time. Seeds are handed out as children become free; a child that dies takes
/// only its seed with it. Results come back in the order of the seeds.
/// </summary>
public sealed class WorkerPool(int workers, string? planted) : IDisposable
{
    private readonly List<Process> _children = [];
    private readonly object _lock = new();

    /// <summary>Runs the seeds; <paramref name="enough"/> ends it early, with nulls for what was not run.</summary>
    public SeedResult[] Run(IReadOnlyList<ulong> seeds, Action<int, SeedResult>? onResult = null, Func<bool>? enough = null)
    {
        var results = new SeedResult[seeds.Count];
        int next = -1;
        Thread[] threads = [.. Enumerable.Range(0, Math.Min(workers, seeds.Count)).Select(_ => new Thread(() =>
        {
            Process? child = null;
            while (true)
            {
                int index = Interlocked.Increment(ref next);
                if (index >= seeds.Count || (enough?.Invoke() ?? false)) break;
                child ??= Start();
                results[index] = RunOne(ref child, seeds[index]);
                onResult?.Invoke(index, results[index]);
            }

            child?.StandardInput.Close();
            child?.WaitForExit();
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        return results;
    }

    public void Dispose()
    {
        lock (_lock)
        {
            foreach (Process child in _children)
            {
                if (!child.HasExited) child.Kill();
                child.Dispose();
            }
        }
    }

    /// <summary>The child's side: seeds on standard input, a line of JSON for each on standard output.</summary>
    public static void Serve()
    {
        while (Console.In.ReadLine() is { } line)
        {
            SeedResult result = SeedRunner.Run(ulong.Parse(line, System.Globalization.CultureInfo.InvariantCulture), null);
            Console.Out.WriteLine(JsonSerializer.Serialize(result));
            Console.Out.Flush();
        }
    }

    private SeedResult RunOne(ref Process? child, ulong seed)
    {
        Process running = child!;
        running.StandardInput.WriteLine(seed);
        running.StandardInput.Flush();
        string? line = running.StandardOutput.ReadLine();
        if (line is not null && JsonSerializer.Deserialize<SeedResult>(line) is { } result) return result;
        running.WaitForExit();
        child = null;
        return new SeedResult
        {
            Seed = seed,
            Hash = 0,
            Operations = 0,
            Steps = 0,
            VirtualSeconds = 0,
            Violations = [new(Checkers.CheckerNames.Unhandled, $"the process that ran the seed died with exit code {running.ExitCode}")],
        };
    }

    private Process Start()
    {
        string dll = typeof(WorkerPool).Assembly.Location;
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardInput = true, RedirectStandardOutput = true };
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet") start.ArgumentList.Add(dll);
        start.ArgumentList.Add("--serve");
        if (planted is not null)
        {
            start.ArgumentList.Add("--plant");
            start.ArgumentList.Add(planted);
        }

        Process child = Process.Start(start)!;
        lock (_lock) _children.Add(child);
        return child;
    }
}
