using System.Diagnostics;
using System.Globalization;
using Salus;
using Salus.Protocol;

namespace Corfu.Load;

/// <summary>The pipelined commit with a window of 16 batches and of one, bytes on the network for a byte of the user,
/// and what the hash tree costs (Figs. 11, 13; 4.1, 4.3). The driver runs in this process.</summary>
internal static class PipelineSection
{
    private const int Callers = 64;
    private const int BlockSize = 4096;

    // A leaf's hash, and five nodes of sixteen children each up to the volume's root.
    private const int TreeNodes = 5;
    private const int NodeBytes = 16 * 16;

    // Driver and each of three members hash a written block and its path.
    private const int Verifiers = 4;

    public static async Task<FigureSection> RunAsync(
        SalusPlan plan, SalusNodes nodes, string folder, CancellationToken cancellationToken)
    {
        var windows = new Dictionary<int, List<Sample>> { [16] = [], [1] = [] };
        var disks = new List<RoundResult>();
        await MeasureAsync(nodes, 16, SalusPlan.WarmUpSeconds, cancellationToken);
        for (var round = 0; round < plan.Rounds; round++)
        {
            disks.Add(BareDisk.Run(folder, BlockSize, TimeSpan.FromSeconds(1)));
            foreach (var window in round % 2 == 0 ? windows.Keys : windows.Keys.Reverse())
            {
                var sample = await MeasureAsync(nodes, window, plan.Seconds, cancellationToken);
                windows[window].Add(sample);
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"round {round + 1}/{plan.Rounds}: window {window}: {sample.Result.PerSecond:0}/s, p50 "
                    + $"{sample.Result.P50:0} us"));
            }
        }

        var section = new FigureSection(SalusPlan.Pipeline, "Pipelined commit, network, verification (Figs. 11, 13)");
        section.Note($"Random writes of 4 KiB, {Callers} at once, three copies, each write durable at all members "
            + "before its reply. A window of one batch waits for each commit before the next batch leaves, and "
            + "collects what comes meanwhile. \"Network\": bytes through the loopback interface for a byte that was "
            + "written, headers of TCP and the coordination's messages included; driver, nodes and log have no other "
            + "traffic. \"Verification\": the time that hashes of the written blocks take, measured alone in the same "
            + "run, of the processor time of driver and nodes.");
        section.Note(
            $"Of the same rounds: bare write and fdatasync, p50 {Cell.Time(RoundResult.Median(disks).P50)} us.");
        section.Columns("window", "writes/s", "p50 us", "p99 us", "network bytes/byte", "CPU us/write",
            "verification");
        var hash = HashMicroseconds();
        foreach (var (window, samples) in windows)
        {
            var median = RoundResult.Median([.. samples.Select(sample => sample.Result)]);
            var processor = RoundResult.Middle(samples.Select(sample => sample.ProcessorMicroseconds));
            section.Row($"{window}", Cell.Count(median.PerSecond), Cell.Time(median.P50), Cell.Time(median.P99),
                Cell.Ratio(RoundResult.Middle(samples.Select(sample => sample.NetworkBytes))),
                Cell.Time(processor), Cell.Percent(Verifiers * hash / processor));
            if (samples.Any(sample => sample.Result.Operations == 0 || sample.Result.Failures > 0))
                section.Problem($"window {window}: a round without a write, or with failed ones");
        }

        section.Sum("window_16_of_1", RoundResult.Middle(windows[16].Zip(windows[1],
            static (own, one) => own.Result.PerSecond / one.Result.PerSecond)), "0.00");
        section.Sum("network_bytes_per_byte",
            RoundResult.Middle(windows[16].Select(sample => sample.NetworkBytes)), "0.00");
        section.Sum("verification_share", Verifiers * hash
            / RoundResult.Middle(windows[16].Select(sample => sample.ProcessorMicroseconds)), "0.000");
        return section;
    }

    private static async Task<Sample> MeasureAsync(
        SalusNodes nodes, int window, int seconds, CancellationToken cancellationToken)
    {
        var (connection, volume) = await nodes.MountAsync(
            SalusNodes.Three, SalusClientOptions.Default with { Window = window }, cancellationToken);
        await using var _ = connection;
        await using var __ = volume;
        await WriteAsync(volume, TimeSpan.FromSeconds(1));
        var (bytes, processor) = (LoopbackBytes(), ProcessorTime(nodes));
        var result = await WriteAsync(volume, TimeSpan.FromSeconds(seconds));
        var user = (double)result.Operations * BlockSize;
        return new Sample(result, (LoopbackBytes() - bytes) / user,
            (ProcessorTime(nodes) - processor).TotalMicroseconds / result.Operations);
    }

    private static async Task<RoundResult> WriteAsync(IVolume volume, TimeSpan duration)
    {
        var blocks = volume.Size / volume.BlockSize;
        var histogram = Latencies.Create();
        var gate = new Lock();
        var failures = 0L;
        var start = Stopwatch.GetTimestamp();
        await Task.WhenAll(Enumerable.Range(0, Callers).Select(caller => Task.Run(async () =>
        {
            var random = new Random(caller);
            var data = new byte[BlockSize];
            random.NextBytes(data);
            while (Stopwatch.GetElapsedTime(start) < duration)
            {
                var began = Stopwatch.GetTimestamp();
                try
                {
                    await volume.WriteAsync(random.NextInt64(blocks), data, durable: true);
                    lock (gate) histogram.RecordSince(began);
                }
                catch (VolumeException)
                {
                    Interlocked.Increment(ref failures);
                    return;
                }
            }
        })));
        return RoundResult.Of(histogram, Stopwatch.GetElapsedTime(start).TotalSeconds, failures);
    }

    private static TimeSpan ProcessorTime(SalusNodes nodes)
    {
        using var self = Process.GetCurrentProcess();
        return nodes.ProcessorTime() + self.TotalProcessorTime;
    }

    private static long LoopbackBytes()
    {
        var line = File.ReadLines("/proc/net/dev")
            .First(text => text.TrimStart().StartsWith("lo:", StringComparison.Ordinal));
        return long.Parse(line.Split([':', ' '], StringSplitOptions.RemoveEmptyEntries)[1],
            CultureInfo.InvariantCulture);
    }

    private static double HashMicroseconds()
    {
        var (block, node) = (new byte[BlockSize], new byte[NodeBytes]);
        new Random(1).NextBytes(block);
        const int times = 20_000;
        var start = 0L;
        for (var i = -times; i < times; i++)
        {
            if (i == 0) start = Stopwatch.GetTimestamp();
            TreeHash.OfBlock(block);
            for (var level = 0; level < TreeNodes; level++) Hash128.Of(node);
        }

        return Stopwatch.GetElapsedTime(start).TotalMicroseconds / times;
    }

    private sealed record Sample(RoundResult Result, double NetworkBytes, double ProcessorMicroseconds);
}
