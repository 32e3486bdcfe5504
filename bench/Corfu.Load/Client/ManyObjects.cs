using System.Globalization;
using Corfu.Client;
using HdrHistogram;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>Calls of a runtime that hosts few objects, and of one that hosts many.</summary>
internal static class ManyObjects
{
    private const int Few = 10;
    private const int Many = 10_000;
    private const int OpeningAtOnce = 64;

    public static async Task RunAsync(string cluster, RunParameters p)
    {
        foreach (var count in new[] { Few, Many })
        {
            await using var client = await CorfuClient.ConnectAsync(cluster);
            await using var runtime = new TangoRuntime(client);
            var started = TimeProvider.System.GetTimestamp();
            var objects = await OpenAsync(runtime, count);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{count} objects, opened in {TimeProvider.System.GetElapsedTime(started).TotalSeconds:0.0} s"));
            await MeasureAsync("reads of one", p, 1, async _ => await objects[0].ReadAsync());
            await MeasureAsync("updates of one", p, 1, async i => await objects[0].WriteAsync(i));
            await MeasureAsync(
                "updates of one, read back", p, 1, async i => await objects[0].ExchangeAsync(i));
            await MeasureAsync(
                "reads and updates over all", p, p.InFlight, async i =>
                {
                    var one = objects[i % count];
                    await one.WriteAsync(i);
                    await one.ReadAsync();
                });
            await MeasureAsync(
                "openings of one more", p, 1,
                async i => await runtime.OpenAsync<TangoRegister<int>>($"one more of {count}, {i}", OpenMode.Create));
            await MeasureAsync("nothing", p, 1, async _ => await Task.Delay(TimeSpan.FromSeconds(p.Seconds)));
        }
    }

    private static async Task<TangoRegister<int>[]> OpenAsync(TangoRuntime runtime, int count)
    {
        var objects = new TangoRegister<int>[count];
        await Parallel.ForAsync(0, count, new ParallelOptions { MaxDegreeOfParallelism = OpeningAtOnce },
            async (i, _) => objects[i] = await runtime.OpenAsync<TangoRegister<int>>($"object {i}", OpenMode.Create));
        return objects;
    }

    /// <param name="call">Gets a number of its own.</param>
    private static async Task MeasureAsync(string name, RunParameters p, int callers, Func<int, ValueTask> call)
    {
        var next = 0;
        var times = new LongHistogram[callers];
        var busy = Environment.CpuUsage.TotalTime;
        var started = TimeProvider.System.GetTimestamp();
        await Task.WhenAll(Enumerable.Range(0, callers).Select(CallAsync));
        var seconds = TimeProvider.System.GetElapsedTime(started).TotalSeconds;
        busy = Environment.CpuUsage.TotalTime - busy;
        for (var i = 1; i < callers; i++) times[0].Add(times[i]);
        ClientCommands.Print(name, times[0], seconds);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"    {busy.TotalMicroseconds / times[0].TotalCount:0} us of this process' processor time each, "
            + $"{busy.TotalSeconds / seconds:0.000} processors"));

        async Task CallAsync(int caller)
        {
            var own = times[caller] = Latencies.Create();
            while (TimeProvider.System.GetElapsedTime(started).TotalSeconds < p.Seconds)
            {
                var asked = TimeProvider.System.GetTimestamp();
                await call(Interlocked.Increment(ref next));
                own.RecordNanoseconds((long)TimeProvider.System.GetElapsedTime(asked).TotalNanoseconds);
            }
        }
    }
}
