using System.Globalization;

namespace Corfu.Load.Suite.Scenarios;

/// <summary>Transactions on one dictionary with few and with many keys: what is tried and what commits.</summary>
internal sealed class Contention : IScenario
{
    private const int InFlight = 32;

    private static readonly int[] s_keys = [10, 100, 1_000, 10_000, 100_000];

    public ScenarioInfo Info { get; } = new("contention", "Contention and skew",
        "Transactions that read three and write three keys of one dictionary, 32 in flight from two processes that "
        + "host it (Tango, Fig. 9). With fewer keys, and with a Zipf distribution (0.99), more of them abort.",
        "keys", "transactions", [PlotKind.Scaling]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_keys.SelectMany(keys => new[] { Case(keys, false), Case(keys, true) }), cancellationToken);

    private static PointCase Case(int keys, bool zipf) => PointCase.Even(zipf ? "Zipf 0.99" : "uniform", keys,
        keys.ToString("N0", CultureInfo.InvariantCulture), 2, InFlight, WorkloadKind.KeyTransaction,
        _ => new WorkloadSetting { Object = "contention", Keys = keys, Zipf = zipf }) with
    {
        IsDurable = true,
        InQuick = keys is 100 or 10_000,
    };
}
