using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Text.Json;

namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>
/// A child of this program that runs one seed at a time: seeds on its standard input, each with the bug to be switched
/// on and the checker at which to end, if any, and a line of JSON for each on its standard output. One that dies takes
/// only its seed with it. Callers take turns.
/// </summary>
public sealed class SeedProcess : IDisposable
{
    private readonly object _turn = new();
    private Process? _child;

    /// <summary>The child's side.</summary>
    /// <param name="run">Runs a seed of a kind of runs, which may end where the named checker fires; null:
    /// never.</param>
    public static void Serve(Func<string, ulong, string?, SeedResult> run)
    {
        var lines = new BlockingCollection<string>();
        // A child whose parent has ended exits in the middle of a seed.
        new Thread(() =>
        {
            while (Console.In.ReadLine() is { } next) lines.Add(next);
            Environment.Exit(0);
        })
        { IsBackground = true }.Start();
        foreach (string line in lines.GetConsumingEnumerable())
        {
            // The seed, the kind of run, and perhaps a bug and its checker.
            string[] words = line.Split(' ');
            PlantedSwitch.Turn(words.Length > 2 ? words[2] : null);
            SeedResult result = run(words[1],
                ulong.Parse(words[0], CultureInfo.InvariantCulture), words.Length > 3 ? words[3] : null);
            Console.Out.WriteLine(JsonSerializer.Serialize(result));
            Console.Out.Flush();
        }
    }

    /// <param name="runs">The kind of run.</param>
    /// <param name="bug">Null: the product as it is. With it, the run may end where its checker fires.</param>
    internal SeedResult Run(string runs, ulong seed, PlantedBug? bug = null)
    {
        lock (_turn)
        {
            Process child = _child ??= Start();
            string what = bug is null ? "" : $" {bug.Name} {bug.Checker}";
            child.StandardInput.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{seed} {runs}{what}"));
            child.StandardInput.Flush();
            string? line = child.StandardOutput.ReadLine();
            if (line is not null && JsonSerializer.Deserialize<SeedResult>(line) is { } result) return result;
            child.WaitForExit();
            int code = child.ExitCode;
            child.Dispose();
            _child = null;
            return new SeedResult
            {
                Seed = seed,
                Hash = 0,
                Operations = 0,
                Steps = 0,
                VirtualSeconds = 0,
                Violations = [new(CheckerNames.Unhandled,
                    $"the process that ran the seed died with exit code {code}")],
            };
        }
    }

    public void Dispose()
    {
        lock (_turn)
        {
            if (_child is null) return;
            if (!_child.HasExited) _child.Kill();
            _child.Dispose();
            _child = null;
        }
    }

    private static Process Start()
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true
        };
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet")
            start.ArgumentList.Add(Assembly.GetEntryAssembly()!.Location);
        start.ArgumentList.Add("--serve");
        // Most of what a seed allocates is garbage by the next collection, if that comes after 256 MiB (hexadecimal).
        start.Environment["DOTNET_GCgen0size"] = "10000000";
        return Process.Start(start)!;
    }
}
