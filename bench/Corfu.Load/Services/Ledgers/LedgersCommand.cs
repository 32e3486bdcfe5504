using System.CommandLine;
using Corfu.Hosting;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary><c>ledgers</c>: ledgers beside raw appends.</summary>
internal static class LedgersCommand
{
    private const string Raw = "raw appends";
    private const string Ledger = "ledger";
    private const int Small = 128;
    private const int Large = 4096;
    private const int Many = 512;

    public static Command Create() => ServiceCommand.Create(
        "ledgers", "Ledgers: appends of one writer for each process, beside raw appends of the same run.",
        new ServiceSection("append", "Appends to ledgers beside raw appends", AppendAsync));

    private static async Task AppendAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var cluster = await run.Clusters.StartAsync(
            new ClusterShape { Units = 3, Replicas = 2 }, cancellationToken);
        int[] sizes = [Small, Large];
        int[] windows = [1, ServicePoints.Window, Many];
        var cases = from size in sizes
                    from window in windows
                    from kind in new[] { WorkloadKind.Append, WorkloadKind.LedgerAppend }
                    select ServicePoints.Case(kind == WorkloadKind.Append ? Raw : Ledger, kind, window, size) with
                    {
                        Servers = () => cluster.ProcessorTime().TotalSeconds,
                    };
        var points = new ServicePoints(
            await run.MeasureAsync(cluster.ConnectionString, cases, cancellationToken));
        section.Note("Three units, two replicas. Two processes, each with one ledger and one writer, which all its "
            + "callers share. A raw append is an entry of the log, in no stream; a writer puts entries that wait into "
            + "one entry of the log.");
        points.AddTo(section);
        foreach (var size in sizes)
        {
            foreach (var window in windows)
            {
                if (points.Ratio(Ledger, Raw, ServicePoints.LoadOf(window, size)) is { } ratio)
                    section.Sum($"ledger_{size}_{window}_of_raw", ratio, "0.00");
            }
        }
    }
}
