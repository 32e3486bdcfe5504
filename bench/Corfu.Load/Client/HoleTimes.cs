using System.Collections.Immutable;
using System.Diagnostics;
using System.Globalization;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;
using HdrHistogram;

namespace Corfu.Load;

/// <summary>
/// Leaves holes behind appends and has them read at once, by a client that appends itself. In flight are appends beside
/// it, of another process. Then a reader follows the log's tail with no hole in it: what it fills, an append has lost.
/// </summary>
internal sealed class HoleTimes(string cluster, CorfuClient client, RunParameters p, ClientCounters counters,
    string folder) : IDisposable
{
    private const int ReadAhead = 256;

    private readonly TcpTransport _transport = new(new TcpTransportOptions { Cluster = client.Projection.Cluster });
    private readonly Dictionary<string, List<(double P50, double P99)>> _medians = [];
    private readonly WorkerProcess _appender = WorkerProcess.Start();
    private bool _print;

    public static async Task RunAsync(string cluster, RunParameters p, int rounds, string folder)
    {
        using var counters = new ClientCounters();
        await using var client = await CorfuClient.ConnectAsync(cluster);
        using var times = new HoleTimes(cluster, client, p, counters, folder);
        await times.RunAsync(rounds);
    }

    public void Dispose()
    {
        _transport.Dispose();
        _appender.Dispose();
    }

    private async Task RunAsync(int rounds)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        var echoTarget = await echo.AddressAsync();
        var payload = new byte[p.Size];
        for (var i = 0; i < 500; i++) await client.AppendAsync(payload, []);
        for (var round = 0; round <= rounds; round++)
        {
            // The first one is for code that has never run.
            _print = round > 0;
            await BesideAppendsAsync(p.Seconds / 2, () => EchoAsync(echoTarget));
            await BesideAppendsAsync(p.Seconds / 2, () => Task.Run(Disk));
            await BesideAppendsAsync(p.Seconds, () => LeastAsync(echoTarget));
            await BesideAppendsAsync(p.Seconds, () => MeasureAsync("abandoned", head: false));
            await BesideAppendsAsync(p.Seconds, () => MeasureAsync("written at the head", head: true));
            await BesideAppendsAsync(p.Seconds, FollowAsync);
        }

        foreach (var (name, values) in _medians)
        {
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"  median: {name,-42} p50 {Median(values.Select(v => v.P50)),8:0} us  p99 "
                + $"{Median(values.Select(v => v.P99)),8:0} us"));
        }
    }

    private async Task BesideAppendsAsync(double seconds, Func<Task> measure)
    {
        if (p.InFlight == 1)
        {
            await measure();
            return;
        }

        // Longer by as much as it may take longer to start.
        var load =
            _appender.RunAsync(new WorkerOrder(WorkloadKind.Append, cluster, p.InFlight - 1, p.Size, seconds + 0.1));
        await measure();
        var report = await load;
        Report("appends beside", Latencies.Decode(report.Histogram), report.Seconds);
    }

    /// <summary>The machine, under the same load: one caller's round trip between two processes.</summary>
    private async Task EchoAsync(string target)
    {
        await using var workload = Workloads.OpenEcho(target);
        var (histogram, seconds, _) = await ClosedLoop.RunAsync(1, TimeSpan.FromSeconds(p.Seconds / 2),
            workload.Prepare(1, p.Size));
        Report("bare echo beside the load", histogram, seconds);
    }

    /// <summary>Least time to close a hole: a look at the chain, a look at the head, the shortest wait (R10), and a
    /// durable write there.</summary>
    private async Task LeastAsync(string target)
    {
        await using var workload = Workloads.OpenEcho(target);
        using var disk = new BareDisk(folder, p.Size);
        var echo = workload.Prepare(1, p.Size);
        var (histogram, seconds, _) = await ClosedLoop.RunAsync(1, TimeSpan.FromSeconds(p.Seconds), async _ =>
        {
            await echo(0);
            await echo(0);
            await Task.Delay(CorfuClientOptions.Default.HoleWait);
            await echo(0);
            disk.Write();
        });
        Report("bare: 2 echos, the wait, echo, write+fdatasync", histogram, seconds);
    }

    private void Disk()
    {
        var disk = BareDisk.Run(folder, p.Size, TimeSpan.FromSeconds(p.Seconds / 2));
        Report("bare write+fdatasync beside it", disk.PerSecond, disk.P50, disk.P99);
    }

    private async Task MeasureAsync(string name, bool head)
    {
        var histogram = Latencies.Create();
        var appends = Latencies.Create();
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < p.Seconds)
        {
            var appended = Stopwatch.GetTimestamp();
            (await client.AppendAsync(new byte[p.Size], [])).Require();
            appends.RecordSince(appended);
            var hole = await LeaveAsync(client.Projection, head);
            var met = Stopwatch.GetTimestamp();
            var read = await client.ReadManyAsync([hole]);
            histogram.RecordSince(met);
            if (read[0].State != (head ? PageState.Data : PageState.Junk))
                throw new CorfuException($"{hole} is {read[0].State}.");
        }

        var seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        Report($"an append between ({name})", appends, seconds);
        Report($"hole, {name}", histogram, seconds);
    }

    private async Task<LogPosition> LeaveAsync(Projection projection, bool head)
    {
        var token = await _transport.CallAsync(projection.Sequencer, new TokenRequest(projection.Epoch, 1, []),
            default);
        if (!token.IsOk) throw CorfuStatusException.Create(token.Status, "A token");
        if (!head) return token.First;
        var chain = projection.ChainOf(token.First);
        var at = new LogPosition(token.First.Offset, projection.Epoch);
        var entry = new LogEntry(at, new EntryOrigin(new WriterId(Guid.NewGuid()), 1), EntryKind.Data,
            DateTimeOffset.UtcNow, [], new byte[p.Size]);
        var written = await _transport.CallAsync(projection.AddressOf(chain.Head),
            new WriteRequest(projection.Epoch, EntryCodec.Encode(entry)), default);
        return written.IsOk ? token.First : throw CorfuStatusException.Create(written.Status, "A write");
    }

    private async Task FollowAsync()
    {
        var (filled, met) = (counters["hole.filled"], counters["hole.met"]);
        long read = 0;
        var began = Stopwatch.GetTimestamp();
        var next = (await client.CheckAsync([])).Tail;
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < p.Seconds)
        {
            var tail = (await client.CheckAsync([])).Tail;
            if (tail == next) (await client.AppendAsync(new byte[p.Size], [])).Require();
            var count = (int)Math.Min(ReadAhead, tail - next);
            var first = next;
            await client.ReadManyAsync(Enumerable.Range(0, count).Select(i => first + i).ToImmutableArray());
            next += count;
            read += count;
        }

        if (!_print) return;
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"  {"reader at the tail, none abandoned",-42} "
            + $"{read / Stopwatch.GetElapsedTime(began).TotalSeconds,10:0}/s  {counters["hole.met"] - met} met "
            + $"before they were written, {counters["hole.filled"] - filled} filled: lost by an append"));
    }

    private void Report(string name, LongHistogram histogram, double seconds) =>
        Report(name, histogram.TotalCount / seconds, histogram.Microseconds(50), histogram.Microseconds(99));

    private void Report(string name, double perSecond, double p50, double p99)
    {
        if (!_print) return;
        ClientCommands.Print(name, perSecond, p50, p99);
        if (!_medians.TryGetValue(name, out var values)) _medians[name] = values = [];
        values.Add((p50, p99));
    }

    private static double Median(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
