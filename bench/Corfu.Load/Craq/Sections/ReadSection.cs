using Craq;

namespace Corfu.Load;

/// <summary>Reads of a clean object by chain length, beside plain chain replication (CRAQ, Figs. 4, 5, 9).</summary>
internal static class ReadSection
{
    private static readonly int[] s_lengths = [1, 3, 5, 7];
    private static readonly int[] s_plain = [3, 7];
    private static readonly int[] s_leased = [3, 7];
    private static readonly ChainOptions s_cr = ChainOptions.Default with { Protocol = ChainProtocol.Cr };
    private static readonly ChainOptions s_byLease = ChainOptions.Default with { Reads = EpochProof.Leased };

    public static async Task<CraqSection> RunAsync(CraqStage stage, CancellationToken cancellationToken)
    {
        List<CraqMembers> chains = [];
        foreach (var length in s_lengths) chains.Add(await stage.ChainAsync(length, cancellationToken));
        foreach (var length in s_leased) chains.Add(await stage.ChainAsync(length, cancellationToken, s_byLease));
        foreach (var length in s_plain) chains.Add(await stage.ChainAsync(length, cancellationToken, s_cr));
        var size = stage.Plan.Size;
        List<CraqPoint> points = [.. chains.Select(chain => Point(chain, CraqPlan.Window, size))];
        points.AddRange(chains.Select(chain => Point(chain, 1, size)));
        var measured = await stage.Rig.RunAsync(CraqPlan.Reads, points, stage.Target, cancellationToken);
        var section = new CraqSection(CraqPlan.Reads, "Reads of a clean object, by chain length (Figs. 4, 5, 9)");
        section.Note($"Strong reads of one object of {size} bytes without writes. CR-n: plain chain replication, "
            + "the chain's switch `protocol cr`, where the tail alone answers. Leased: the switch `reads leased`: "
            + "no member is asked about a clean object. \"Per node second\": reads for each second of "
            + "processor time of the chain's busiest node, so what the chain could serve if each node had a "
            + "core; \"x CR-3\" compares that. \"Queries\": questions to the tail for a read at another node; reads "
            + "share them.");
        section.Baselines(measured);
        section.Columns("chain", "in flight", "reads/s", "p50 us", "p99 us", "of echo", "node us/read",
            "client us/read", "per node second", "x CR-3", "queries");
        foreach (var point in points) Row(section, measured, measured[point.Name]);
        Summarize(section, measured);
        section.Check(measured);
        foreach (var rounds in measured.All.Where(rounds => rounds.DirtyShare > 0))
            section.Problem($"{rounds.Point.Name}: {Cell.Percent(rounds.DirtyShare)} of the reads were dirty");
        return section;
    }

    private static CraqPoint Point(CraqMembers chain, int inFlight, int size) =>
        CraqPoint.Get(NameOf(chain.Chain, inFlight), chain, inFlight, size);

    private static string NameOf(string chain, int inFlight) => $"{chain}, {inFlight} in flight";

    private static void Row(CraqSection section, CraqMeasured measured, CraqRounds rounds)
    {
        var (point, median) = (rounds.Point, rounds.Median);
        var plain = measured[NameOf("CR-3", point.InFlight)];
        section.Row(point.Members!.Chain, $"{point.InFlight}", Cell.Count(median.PerSecond), Cell.Time(median.P50),
            Cell.Time(median.P99), Cell.Ratio(measured.OfEcho(rounds)), Cell.Time(rounds.NodeMicroseconds),
            Cell.Time(rounds.ClientMicroseconds), Cell.Count(rounds.Capacity),
            Cell.Ratio(rounds.CapacityRatio(plain)),
            point.Members.Length == 1 ? "0" : Cell.Ratio(rounds.QueriesPerRead));
    }

    private static void Summarize(CraqSection section, CraqMeasured measured)
    {
        var plain = measured[NameOf("CR-3", CraqPlan.Window)];
        foreach (var length in s_lengths)
        {
            var rounds = measured[NameOf($"CRAQ-{length}", CraqPlan.Window)];
            section.Sum($"clean_{length}", rounds.Median.PerSecond);
        }

        foreach (var length in s_leased)
        {
            var (leased, confirmed) = (measured[NameOf($"CRAQ-{length}-leased", CraqPlan.Window)],
                measured[NameOf($"CRAQ-{length}", CraqPlan.Window)]);
            section.Sum($"leased_{length}", leased.Median.PerSecond);
            section.Sum($"confirmed_{length}_of_leased",
                confirmed.Ratio(leased, static result => result.PerSecond), "0.00");
        }

        section.Sum("cr_3", plain.Median.PerSecond);
        foreach (var length in s_lengths)
        {
            var rounds = measured[NameOf($"CRAQ-{length}", CraqPlan.Window)];
            section.Sum($"counted_{length}", rounds.CapacityRatio(plain), "0.00");
        }

        section.Sum("echo", measured.Echo(plain.Point).PerSecond);
    }
}
