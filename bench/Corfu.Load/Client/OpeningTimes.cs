using System.Globalization;
using Corfu.Client;
using HdrHistogram;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>Reads of an open object beside the opening of one with a long history.</summary>
internal static class OpeningTimes
{
    private const int Updates = 300_000;
    private const int InFlight = 4096;

    public static async Task RunAsync(string cluster, RunParameters p, int rounds)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var writer = new TangoRuntime(client);
        var large = await writer.OpenWriteOnlyAsync<TangoDictionary<int, int>>("large", OpenMode.Create);
        for (var next = 0; next < Updates; next += InFlight)
        {
            await Task.WhenAll(Enumerable.Range(next, Math.Min(InFlight, Updates - next))
                .Select(i => large.SetAsync(i % 20_000, i).AsTask()));
        }

        for (var round = 0; round <= rounds; round++)
        {
            await using var reading = await CorfuClient.ConnectAsync(cluster);
            await using var runtime = new TangoRuntime(reading);
            var small = await runtime.OpenAsync<TangoRegister<string>>("small", OpenMode.Create);
            var idle = await ReadsUntilAsync(small, Task.Delay(TimeSpan.FromSeconds(p.Seconds)));
            var opening = runtime.OpenAsync<TangoDictionary<int, int>>("large", OpenMode.Create).AsTask();
            var beside = await ReadsUntilAsync(small, opening);
            await opening;
            if (round == 0) continue;
            ClientCommands.Print("reads, nothing else", idle.Times, idle.Seconds);
            ClientCommands.Print("reads while another object opens", beside.Times, beside.Seconds);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"  opened in {beside.Seconds:0.00} s, longest read {beside.Longest:0.0} ms; idle {idle.Longest:0.0}"));
        }
    }

    private static async Task<(LongHistogram Times, double Seconds, double Longest)> ReadsUntilAsync(
        TangoRegister<string> register, Task end)
    {
        var times = Latencies.Create();
        var longest = TimeSpan.Zero;
        var started = TimeProvider.System.GetTimestamp();
        do
        {
            var asked = TimeProvider.System.GetTimestamp();
            await register.ReadAsync();
            var took = TimeProvider.System.GetElapsedTime(asked);
            times.RecordNanoseconds((long)took.TotalNanoseconds);
            if (took > longest) longest = took;
        }
        while (!end.IsCompleted);

        return (times, TimeProvider.System.GetElapsedTime(started).TotalSeconds, longest.TotalMilliseconds);
    }
}
