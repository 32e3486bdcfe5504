namespace Corfu.Load.Suite.Scenarios;

/// <summary>Processes with a dictionary each, and a part of the transactions that also work on another one.</summary>
internal sealed class SharedTransactions : IScenario
{
    private const int Clients = 4;
    private const int InFlight = 16;

    private static readonly int[] s_percent = [0, 4, 16, 64, 100];

    private readonly Func<int, int, WorkloadSetting> _setting;

    private SharedTransactions(ScenarioInfo info, Func<int, int, WorkloadSetting> setting)
    {
        Info = info;
        _setting = setting;
    }

    public ScenarioInfo Info { get; }

    public static SharedTransactions CrossPartition() => new(
        new ScenarioInfo("cross-partition", "Transactions across partitions",
            "Four processes host a dictionary each and run transactions on it, 16 in flight together. A part of the "
            + "transactions also writes three keys of the next process's dictionary, which it does not host (Tango, "
            + "Fig. 10 middle).",
            "transactions on two dictionaries, %", "commits", [PlotKind.Scaling]),
        (process, percent) => new WorkloadSetting
        {
            Object = $"cross/{process}",
            Other = $"cross/{(process + 1) % Clients}",
            OtherShare = percent / 100.0,
        });

    public static SharedTransactions SharedObject() => new(
        new ScenarioInfo("shared-object", "Transactions on a shared object",
            "Four processes host a dictionary each and all of them host one more, 16 transactions in flight together. "
            + "A part of the transactions reads and writes both (Tango, Fig. 10 right).",
            "transactions on the shared dictionary too, %", "commits", [PlotKind.Scaling]),
        (process, percent) => new WorkloadSetting
        {
            Object = $"shared/{process}",
            Other = "shared/all",
            ReadsOther = true,
            OtherShare = percent / 100.0,
        });

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(s_percent.Select(percent => PointCase.Even("transactions", percent, $"{percent}", Clients,
            InFlight, WorkloadKind.KeyTransaction, process => _setting(process, percent)) with
        {
            IsDurable = true,
            InQuick = percent is 0 or 16,
        }), cancellationToken);
}
