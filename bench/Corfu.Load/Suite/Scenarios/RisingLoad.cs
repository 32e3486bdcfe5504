namespace Corfu.Load.Suite.Scenarios;

/// <summary>An operation with more and more of its kind in flight: throughput against latency.</summary>
internal sealed class RisingLoad : IScenario
{
    private static readonly int[] s_inFlight = [1, 8, 64, 512];
    private static readonly int[] s_transactionsInFlight = [1, 8, 64];

    private readonly IReadOnlyList<PointCase> _cases;

    private RisingLoad(string name, string title, string text, string unit, IReadOnlyList<PointCase> cases)
    {
        Info = new ScenarioInfo(name, title, text, "operations in flight", unit,
            [PlotKind.LoadCurve, PlotKind.Percentiles]);
        _cases = cases;
    }

    public ScenarioInfo Info { get; }

    public static RisingLoad Append() => new("append", "Appends",
        "Durable appends of 128 bytes through the client from two processes; each is acknowledged by both replicas of "
        + "its chain.", "appends", Cases("append", WorkloadKind.Append, 2, durable: true));

    public static RisingLoad Read() => new("read", "Reads of entries",
        "Reads of single entries of 128 bytes at random positions, from two processes.", "reads",
        Cases("read", WorkloadKind.Read, 2));

    public static RisingLoad Check() => new("check", "Linearizable checks",
        "Linearizable checks of the log's tail, from two processes. Callers of one process share confirmations.",
        "checks", Cases("check", WorkloadKind.Check, 2));

    public static RisingLoad ObjectRead() => new("object-read", "Reads of an object",
        "Linearizable reads of one register by the one process that hosts it (Tango, Fig. 8 left). Nothing is "
        + "written.", "reads", Cases("read", WorkloadKind.ObjectRead, 1, "rising/read"));

    public static RisingLoad ObjectUpdate() => new("object-update", "Writes to an object",
        "Durable writes to one register by one process (Tango, Fig. 8 left). Writes that wait at the same time share "
        + "entries of the log.", "writes",
        Cases("write", WorkloadKind.ObjectUpdate, 1, "rising/update", durable: true));

    public static RisingLoad Transaction() => new("transaction", "Transactions",
        "Transactions that read three and write three of 10,000 keys of one dictionary, from two processes that both "
        + "host it; keys evenly or by a Zipf distribution (0.99). Each is tried once, and only what committed counts.",
        "commits",
        [.. TransactionCases("uniform", zipf: false), .. TransactionCases("Zipf 0.99", zipf: true)]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(_cases, cancellationToken);

    private static IReadOnlyList<PointCase> Cases(string series, WorkloadKind kind, int processes, string? name = null,
        bool durable = false) =>
    [
        .. s_inFlight.Select(inFlight => PointCase.Even(series, inFlight, $"{inFlight}", processes, inFlight, kind,
            _ => name is null ? WorkloadSetting.Default : new WorkloadSetting { Object = name }) with
        {
            IsDurable = durable,
            // A single caller's durable operation can be no faster than the disk.
            Baseline = durable && inFlight == 1 ? Baseline.Disk : Baseline.Echo,
            InQuick = inFlight is 1 or 64,
        }),
    ];

    private static IEnumerable<PointCase> TransactionCases(string series, bool zipf) =>
        s_transactionsInFlight.Select(inFlight => PointCase.Even(series, inFlight, $"{inFlight}", 2, inFlight,
            WorkloadKind.KeyTransaction, _ => new WorkloadSetting { Object = "rising/keys", Zipf = zipf }) with
        {
            IsDurable = true,
            Baseline = inFlight == 1 ? Baseline.Disk : Baseline.Echo,
            InQuick = inFlight is 1 or 64,
        });
}
