namespace Corfu.Load;

/// <summary>Writes by chain length and value size (CRAQ, Figs. 5, 9).</summary>
internal static class WriteSection
{
    private static readonly int[] s_lengths = [1, 3, 5, 7];
    private static readonly int[] s_sizes = [500, 5000];
    private static readonly int[] s_windows = [1, CraqPlan.Window, 512];

    public static async Task<CraqSection> RunAsync(CraqStage stage, CancellationToken cancellationToken)
    {
        List<CraqPoint> points = [];
        foreach (var size in s_sizes)
        {
            foreach (var window in s_windows)
            {
                foreach (var length in s_lengths)
                {
                    var chain = await stage.ChainAsync(length, cancellationToken);
                    points.Add(CraqPoint.Own(
                        NameOf(length, window, size), WorkloadKind.CraqPut, chain, window, size));
                }
            }
        }

        var measured = await stage.Rig.RunAsync(CraqPlan.Writes, points, stage.Target, cancellationToken);
        var section = new CraqSection(CraqPlan.Writes, "Writes, by chain length and value size (Figs. 5, 9)");
        section.Note("Each caller writes an object of its own. An answer means durable at every node of the chain: a "
            + "write costs one write and fdatasync for each node, one behind the other, and writes share them. "
            + "\"Syncs\": the median latency as a multiple of one bare write and fdatasync. \"Of C = 3\": writes/s "
            + "beside those of three nodes.");
        section.Baselines(measured);
        section.Columns("nodes", "bytes", "in flight", "writes/s", "p50 us", "p99 us", "syncs", "of C = 3", "of echo",
            "node us/write", "client us/write", "per node second");
        foreach (var point in points) Row(section, measured, measured[point.Name]);
        foreach (var length in s_lengths)
        {
            section.Sum($"write_{length}",
                measured[NameOf(length, CraqPlan.Window, s_sizes[0])].Median.PerSecond);
        }

        section.Sum("write_3_p50_us", measured[NameOf(3, 1, s_sizes[0])].Median.P50);
        section.Sum("fdatasync_us", measured.Disk(s_sizes[0]).P50);
        section.Check(measured);
        return section;
    }

    private static string NameOf(int length, int window, int size) =>
        $"C = {length}, {size} bytes, {window} in flight";

    private static void Row(CraqSection section, CraqMeasured measured, CraqRounds rounds)
    {
        var (point, median) = (rounds.Point, rounds.Median);
        var three = measured[NameOf(3, point.InFlight, point.Size)];
        section.Row($"{point.Members!.Length}", $"{point.Size}", $"{point.InFlight}", Cell.Count(median.PerSecond),
            Cell.Time(median.P50), Cell.Time(median.P99), Cell.Ratio(median.P50 / measured.Disk(point.Size).P50),
            Cell.Ratio(rounds.Ratio(three, static result => result.PerSecond)), Cell.Ratio(measured.OfEcho(rounds)),
            Cell.Time(rounds.NodeMicroseconds), Cell.Time(rounds.ClientMicroseconds), Cell.Count(rounds.Capacity));
    }
}
