using Craq;

namespace Corfu.Load;

/// <summary>Large writes by chain length, with values down the chain and along the tree (CRAQ 4.2, Fig. 9).</summary>
internal static class RelaySection
{
    private static readonly int[] s_lengths = [3, 6];
    private static readonly int[] s_sizes = [5_000, 64_000, 1_000_000];

    // A single caller shows the latency of a write, not the network's room.
    private const int InFlight = 1;

    public static async Task<CraqSection> RunAsync(CraqStage stage, CancellationToken cancellationToken)
    {
        List<CraqPoint> points = [];
        foreach (var size in s_sizes)
        {
            foreach (var length in s_lengths)
            {
                foreach (var values in Enum.GetValues<ValuePath>())
                {
                    var chain = await stage.ChainAsync(
                        length, cancellationToken, ChainOptions.Default with { Values = values });
                    var point = CraqPoint.Own(
                        NameOf(length, size, values), WorkloadKind.CraqPut, chain, InFlight, size);
                    points.Add(point with { Setting = point.Setting with { Keys = InFlight } });
                }
            }
        }

        var measured = await stage.Rig.RunAsync(CraqPlan.Relay, points, stage.Target, cancellationToken);
        var section = new CraqSection(CraqPlan.Relay, "Large writes, values down the chain or relayed (Fig. 9)");
        section.Note("One caller. \"relay\": the values go to all members along a tree while the head writes, and the "
            + "records follow without them; below 8 KiB it is the same as \"chain\". Every member still writes and "
            + "syncs the whole record behind its predecessor. \"Of chain\": the median latency beside that of the same "
            + "length and size with values down the chain.");
        section.Baselines(measured);
        section.Columns("nodes", "bytes", "values", "writes/s", "p50 us", "p99 us", "syncs", "of chain",
            "node us/write");
        foreach (var point in points) Row(section, measured, measured[point.Name]);
        foreach (var length in s_lengths)
        {
            section.Sum($"relay_{length}_of_chain", OfChain(measured,
                measured[NameOf(length, s_sizes[^1], ValuePath.Relay)]), "0.00");
        }

        section.Check(measured);
        return section;
    }

    private static string NameOf(int length, int size, ValuePath values) =>
        $"C = {length}, {size} bytes, {PathOf(values)}";

    private static string PathOf(ValuePath values) => values == ValuePath.Relay ? "relay" : "chain";

    private static double OfChain(CraqMeasured measured, CraqRounds rounds) => rounds.Ratio(
        measured[NameOf(rounds.Point.Members!.Length, rounds.Point.Size, ValuePath.Chain)],
        static result => result.P50);

    private static void Row(CraqSection section, CraqMeasured measured, CraqRounds rounds)
    {
        var (point, median) = (rounds.Point, rounds.Median);
        var path = point.Name.EndsWith(PathOf(ValuePath.Relay), StringComparison.Ordinal)
            ? ValuePath.Relay
            : ValuePath.Chain;
        section.Row($"{point.Members!.Length}", $"{point.Size}", PathOf(path), Cell.Count(median.PerSecond),
            Cell.Time(median.P50), Cell.Time(median.P99), Cell.Ratio(median.P50 / measured.Disk(point.Size).P50),
            Cell.Ratio(OfChain(measured, rounds)), Cell.Time(rounds.NodeMicroseconds));
    }
}
