using System.Diagnostics;
using System.Globalization;
using System.Net;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Floods;

/// <summary>A process of appends from one address, which is an identity without TLS.</summary>
internal static class Loader
{
    public const string Mark = "appended ";

    private const int Payload = 128;

    public static async Task<int> RunAsync(string connect, string from, int inFlight, int seconds)
    {
        var options = new CorfuClientOptions
        {
            MaxAppendsInFlight = inFlight,
            Tcp = new TcpTransportOptions { LocalAddress = IPAddress.Parse(from) },
        };
        await using var client = await CorfuClient.ConnectAsync(connect, options);
        await Console.Out.WriteLineAsync("connected");
        var payload = new byte[Payload];
        var times = new List<double>[inFlight];
        var clock = Stopwatch.StartNew();
        var failures = 0;
        await Task.WhenAll(Enumerable.Range(0, inFlight).Select(async caller =>
        {
            var mine = times[caller] = [];
            while (clock.Elapsed.TotalSeconds < seconds)
            {
                var began = Stopwatch.GetTimestamp();
                try
                {
                    await client.AppendAsync(payload, [], CancellationToken.None);
                    mine.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
                }
                catch (CorfuException)
                {
                    Interlocked.Increment(ref failures);
                }
            }
        }));
        var all = times.SelectMany(t => t).Order().ToList();
        if (all.Count == 0) return 1;
        var (p50, p99) = (all[all.Count / 2], all[(int)(all.Count * 0.99)]);
        await Console.Out.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
            $"{Mark}{all.Count} failed {failures} p50 {p50:0.00} p99 {p99:0.00}"));
        return 0;
    }

    /// <summary>The p99 of a line that <see cref="RunAsync"/> prints.</summary>
    public static double P99Of(string line) =>
        double.Parse(line[(line.LastIndexOf(' ') + 1)..], CultureInfo.InvariantCulture);
}
