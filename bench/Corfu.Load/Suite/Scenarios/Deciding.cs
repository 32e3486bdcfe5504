using Tango;

namespace Corfu.Load.Suite.Scenarios;

/// <summary>The same transactions, decided by playback and by the sequencer.</summary>
internal sealed class Deciding : IScenario
{
    private const int Clients = 4;
    private const int InFlight = 64;
    private const int InFlightOfShared = 16;
    private const int ContendedKeys = 10;

    public ScenarioInfo Info { get; } = new("decide", "Decisions by playback and by the sequencer",
        "Transactions that read three and write three keys, evenly chosen, decided by playback or by the sequencer: on "
        + "one dictionary that two processes host, one or 64 in flight; with 10 keys, 32 in flight; and from four "
        + "processes, 16 in flight, all of them on two dictionaries: the next process's, which is only written, or one "
        + "that all of them host. Each is tried once, and only what committed counts.",
        "transactions", "commits", [PlotKind.Scaling]);

    public Task<ScenarioResult> RunAsync(SuiteRun run, CancellationToken cancellationToken) =>
        run.MeasureAsync(Points(TransactionDecisions.Playback).Zip(Points(TransactionDecisions.Sequencer))
            .SelectMany(static both => new[] { both.First, both.Second }), cancellationToken);

    /// <summary>Names have the way, so that no object is played for both.</summary>
    private static IEnumerable<PointCase> Points(TransactionDecisions way)
    {
        var series = way == TransactionDecisions.Playback ? "playback" : "sequencer";
        yield return Case(0, "one in flight", 2, 1, _ => One()) with { Baseline = Baseline.Disk };
        yield return Case(1, "one dictionary", 2, InFlight, _ => One());
        yield return Case(2, "10 keys", 2, InFlight / 2, _ => One() with { Keys = ContendedKeys }) with
        {
            InQuick = false,
        };
        yield return Case(3, "across partitions", Clients, InFlightOfShared, process => Own(process) with
        {
            Other = Own(process + 1).Object,
        });
        yield return Case(4, "shared dictionary", Clients, InFlightOfShared, process => Own(process) with
        {
            Other = $"decide/{series}/all",
            ReadsOther = true,
        });

        WorkloadSetting One() => new() { Object = $"decide/{series}/one", Decisions = way };

        WorkloadSetting Own(int process) => new()
        {
            Object = $"decide/{series}/{process % Clients}",
            OtherShare = 1,
            Decisions = way,
        };

        PointCase Case(int x, string label, int processes, int inFlight, Func<int, WorkloadSetting> setting) =>
            PointCase.Even(series, x, label, processes, inFlight, WorkloadKind.KeyTransaction, setting) with
            {
                IsDurable = true,
            };
    }
}
