namespace Corfu.Load;

/// <summary>Conditional writes and mini-transactions, in one chain and over several (CRAQ 4.1, Fig. 5).</summary>
internal static class TransactionSection
{
    private const int Length = 3;
    private const int Chains = 4;

    private static readonly (string Name, WorkloadKind Kind, int Chains)[] s_operations =
    [
        ("put", WorkloadKind.CraqPut, 1),
        ("add to a number", WorkloadKind.CraqAdd, 1),
        ("read and compare-and-set", WorkloadKind.CraqCompareAndSet, 1),
        ("1 chain: compare one, write two", WorkloadKind.CraqMutate, 1),
        ("2 chains: the same in each", WorkloadKind.CraqTransact, 2),
        ("4 chains: the same in each", WorkloadKind.CraqTransact, Chains),
    ];

    public static async Task<CraqSection> RunAsync(CraqStage stage, CancellationToken cancellationToken)
    {
        List<CraqMembers> chains = [];
        for (var i = 0; i < Chains; i++)
            chains.Add(await stage.ChainAsync(Length, cancellationToken, suffix: $"-part-{i}"));
        List<CraqPoint> points = [];
        foreach (var window in (int[])[1, CraqPlan.Window])
        {
            foreach (var (name, kind, count) in s_operations)
            {
                var point = CraqPoint.Own(NameOf(name, window), kind, chains[0], window, stage.Plan.Size);
                points.Add(point with
                {
                    Setting = point.Setting with
                    {
                        Chains = string.Join(',', chains.Take(count).Select(chain => chain.Chain)),
                        Object = $"{kind}-{count}",
                    },
                });
            }
        }

        var measured = await stage.Rig.RunAsync(CraqPlan.Transactions, points, stage.Target, cancellationToken);
        var section = new CraqSection(CraqPlan.Transactions,
            "Conditional writes and mini-transactions, chains of three (section 4.1, Fig. 5)");
        section.Note("Each caller works on objects of its own, so that nothing collides. One chain: one step at the "
            + "head. Several chains: two phases among the heads, and one append to the log that decides. \"Of put\": "
            + "beside single puts at the same window.");
        section.Baselines(measured);
        section.Columns("operation", "in flight", "per second", "p50 us", "p99 us", "of put", "syncs", "refused");
        foreach (var window in (int[])[1, CraqPlan.Window])
        {
            foreach (var (name, _, _) in s_operations)
            {
                var rounds = measured[NameOf(name, window)];
                var median = rounds.Median;
                var put = measured[NameOf(s_operations[0].Name, window)];
                section.Row(name, $"{window}", Cell.Count(median.PerSecond), Cell.Time(median.P50),
                    Cell.Time(median.P99), Cell.Ratio(rounds.Ratio(put, static result => result.PerSecond)),
                    Cell.Ratio(median.P50 / measured.Disk(stage.Plan.Size).P50), $"{median.Aborted}");
            }
        }

        section.Sum("tx_single_64", measured[NameOf(s_operations[3].Name, CraqPlan.Window)].Median.PerSecond);
        section.Sum("tx_multi_64", measured[NameOf(s_operations[4].Name, CraqPlan.Window)].Median.PerSecond);
        section.Check(measured);
        return section;
    }

    private static string NameOf(string operation, int window) => $"{operation}, {window} in flight";
}
