using System.Diagnostics;
using System.Globalization;
using Corfu.Unit;

namespace Corfu.Load.Units;

/// <summary>
/// A storage unit that fills up: many entries in many streams. Shown are the throughput at the start and at the end,
/// its memory, and how long a start takes afterwards. Arguments: [entries] [streams] [payload bytes] [callers]
/// [folder].
/// </summary>
internal static class UnitFill
{
    private const int Parts = 20;

    public static async Task<int> RunAsync(string[] args)
    {
        var entries = args.Length > 0 ? long.Parse(args[0], CultureInfo.InvariantCulture) : 10_000_000;
        var streams = args.Length > 1 ? int.Parse(args[1], CultureInfo.InvariantCulture) : 1_000_000;
        var payload = args.Length > 2 ? int.Parse(args[2], CultureInfo.InvariantCulture) : 32;
        var callers = args.Length > 3 ? int.Parse(args[3], CultureInfo.InvariantCulture) : 64;
        using var folder = new WorkFolder(args.Length > 4 ? new DirectoryInfo(args[4]) : null);
        var path = Path.Combine(folder.Path, "unit");
        Console.WriteLine(
            $"one unit, {entries:N0} entries of {payload} bytes in {streams:N0} streams, {callers} callers");
        await FillAsync(path, entries, streams, payload, callers);
        var size = new DirectoryInfo(path).EnumerateFiles("*", SearchOption.AllDirectories).Sum(f => f.Length);
        Console.WriteLine($"on disk {size >> 20:N0} MiB");
        await ReopenAsync(path);
        return 0;
    }

    private static async Task FillAsync(string path, long entries, int streams, int payload, int callers)
    {
        await using var node =
            await UnitNode.OpenAsync(new UnitNodeOptions { Folder = path, Cluster = UnitLoad.Cluster },
                SystemEntropy.Instance);
        await UnitLoad.InstallAsync(node);
        var all = Enumerable.Range(0, callers)
            .Select(i => new UnitCaller(node.Handler, Epoch.First, i, callers, payload, streams)).ToArray();
        var perPart = entries / Parts / callers;
        var rates = new double[Parts];
        for (var part = 0; part < Parts; part++)
        {
            var clock = Stopwatch.GetTimestamp();
            await Task.WhenAll(all.Select(caller => Task.Run(async () =>
            {
                for (var i = 0L; i < perPart; i++) await caller.WriteAsync();
            })));
            rates[part] = perPart * callers / Stopwatch.GetElapsedTime(clock).TotalSeconds;
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{(part + 1) * 100 / Parts,3} %  {rates[part],9:F0} writes/s  memory {Environment.WorkingSet >> 20} "
                + $"MiB, managed {GC.GetTotalMemory(false) >> 20} MiB"));
        }

        // The first part warms up; two and two are compared.
        var first = (rates[1] + rates[2]) / 2;
        var last = (rates[^1] + rates[^2]) / 2;
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"at the start {first:F0}, at the end {last:F0} writes/s: {last / first:F2}"));
    }

    private static async Task ReopenAsync(string path)
    {
        for (var start = 0; start < 2; start++)
        {
            var clock = Stopwatch.GetTimestamp();
            await using var node = await UnitNode.OpenAsync(new UnitNodeOptions { Folder = path, MustExist = true },
                SystemEntropy.Instance);
            var elapsed = Stopwatch.GetElapsedTime(clock);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"start {start + 1}: serves after {elapsed.TotalSeconds:F2} s"));
        }
    }
}
