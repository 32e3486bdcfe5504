using System.Globalization;

namespace Corfu.Load;

/// <summary>Reads of an object while it is written, up to saturation (CRAQ, Figs. 6 to 9).</summary>
internal static class DirtySection
{
    // The object that is read, and an object of the same chain that is not.
    private const string Hot = "hot";
    private const string Cold = "cold";

    private const int Length = 3;

    // Least share of dirty reads beside saturating writes, and the greatest one among reads that are called clean.
    private const double LeastDirty = 0.5;
    private const double MostDirty = 0.01;

    private static readonly int[] s_sizes = [500, 5000];

    // Null: as many as 64 in flight can do.
    private static readonly double?[] s_rates = [0, 100, 500, 2000, null];

    public static async Task<CraqSection> RunAsync(CraqStage stage, CancellationToken cancellationToken)
    {
        var chain = await stage.ChainAsync(Length, cancellationToken);
        List<CraqPoint> points = [];
        foreach (var size in s_sizes)
        {
            foreach (var rate in s_rates) points.Add(Point(chain, size, Hot, rate));
            points.Add(Point(chain, size, Cold, null));
        }

        var measured = await stage.Rig.RunAsync(CraqPlan.Dirty, points, stage.Target, cancellationToken);
        var section = new CraqSection(CraqPlan.Dirty, "Reads while writes rise (Figs. 6, 7, 8, 9)");
        section.Note($"64 strong reads in flight of one object of CRAQ-{Length}, while another process writes: the "
            + "object itself, or (last line of a size) another object of the chain, with 64 writes in flight at "
            + "saturation. \"Dirty\": reads that met an uncommitted version at their node, as the nodes count them. "
            + "\"Queries\": questions that reached the tail. \"Of unwritten\": reads/s beside those without any "
            + "writes, the paper's ratio; here readers, writers and nodes share the cores. \"Of clean\": beside the "
            + "reads of an object that stays clean while another one is written as hard: what dirtiness alone costs.");
        section.Baselines(measured);
        section.Columns("bytes", "written", "writes/s", "reads/s", "p50 us", "p99 us", "dirty", "queries/s",
            "queries for a read", "of unwritten", "of clean", "node us/read and its writes");
        foreach (var point in points) Row(section, measured, measured[point.Name]);
        Summarize(section, measured);
        section.Check(measured);
        foreach (var size in s_sizes) Prove(section, measured, size);
        return section;
    }

    private static CraqPoint Point(CraqMembers chain, int size, string written, double? rate)
    {
        var point = CraqPoint.Get(NameOf(size, written, rate), chain, CraqPlan.Window, size);
        return point with
        {
            Setting = point.Setting with { Object = Hot },
            Beside = rate == 0 ? null : new CraqWrites(written, rate),
        };
    }

    private static string NameOf(int size, string written, double? rate) => rate is { } held
        ? string.Create(CultureInfo.InvariantCulture, $"{size} bytes, {held} writes/s")
        : $"{size} bytes, {(written == Hot ? "its" : "another object's")} writes at saturation";

    private static void Row(CraqSection section, CraqMeasured measured, CraqRounds rounds)
    {
        var (point, median) = (rounds.Point, rounds.Median);
        var unwritten = measured[NameOf(point.Size, Hot, 0)];
        var clean = measured[NameOf(point.Size, Cold, null)];
        var isSaturated = point.Beside is { PerSecond: null };
        section.Row($"{point.Size}", Written(point), Cell.Count(rounds.Beside?.PerSecond ?? 0),
            Cell.Count(median.PerSecond), Cell.Time(median.P50), Cell.Time(median.P99),
            Cell.Percent(rounds.DirtyShare), Cell.Count(rounds.QueriesPerSecond),
            Cell.Ratio(rounds.QueriesPerRead),
            Cell.Ratio(rounds.Ratio(unwritten, static result => result.PerSecond)),
            isSaturated ? Cell.Ratio(rounds.Ratio(clean, static result => result.PerSecond)) : "",
            Cell.Time(rounds.NodeMicroseconds));
    }

    private static string Written(CraqPoint point) => point.Beside?.Object switch
    {
        null => "nothing",
        Hot => "the object",
        _ => "another object",
    };

    private static void Summarize(CraqSection section, CraqMeasured measured)
    {
        var size = s_sizes[0];
        var dirty = measured[NameOf(size, Hot, null)];
        section.Sum("dirty_ratio",
            dirty.Ratio(measured[NameOf(size, Cold, null)], static result => result.PerSecond), "0.00");
        section.Sum("dirty_of_unwritten",
            dirty.Ratio(measured[NameOf(size, Hot, 0)], static result => result.PerSecond), "0.00");
        section.Sum("dirty_share", dirty.DirtyShare, "0.00");
        section.Sum("dirty_queries_per_second", dirty.QueriesPerSecond);
        section.Sum("dirty_writes", dirty.Beside!.PerSecond);
        section.Sum("clean_writes", measured[NameOf(size, Cold, null)].Beside!.PerSecond);
    }

    // A ratio of dirty to clean reads needs reads that were dirty, and reads that were not.
    private static void Prove(CraqSection section, CraqMeasured measured, int size)
    {
        var dirty = measured[NameOf(size, Hot, null)];
        if (dirty.DirtyShare < LeastDirty)
            section.Problem($"{dirty.Point.Name}: {Cell.Percent(dirty.DirtyShare)} of the reads were dirty");
        if (dirty.Samples.Any(sample => sample.Counts[^1].Queries == 0))
            section.Problem($"{dirty.Point.Name}: a round without a question to the tail");
        foreach (var name in (string[])[NameOf(size, Cold, null), NameOf(size, Hot, 0)])
        {
            if (measured[name].DirtyShare > MostDirty)
                section.Problem($"{name}: {Cell.Percent(measured[name].DirtyShare)} of the reads were dirty");
        }
    }
}
