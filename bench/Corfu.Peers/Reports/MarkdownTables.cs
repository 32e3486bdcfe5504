using System.Globalization;
using System.Text;

namespace Corfu.Peers;

/// <summary>The report as a page for bench/results.</summary>
internal static class MarkdownTables
{
    public static string Of(PeersReport report)
    {
        var page = new StringBuilder();
        var plan = report.Plan;
        page.Line($"Command `{report.Command}`, commit {report.Run.Commit}, {report.Run.Time:yyyy-MM-dd HH:mm} UTC.");
        page.Line($"{report.Run.Machine}; data on {report.FileSystem}; {report.Run.Runtime}.");
        page.Line($"Medians of {plan.Rounds} interleaved rounds of {plan.Seconds} s, {plan.Load.Size} bytes."
            + " All clients are in one process, with one connection for each server. Only the measured system runs."
            + " Times are microseconds.");
        Operations(page, report);
        Meanings(page, report);
        Notes(page, report);
        return page.ToString();
    }

    // A single table, so that a page which cites it replaces one thing.
    private static void Operations(StringBuilder page, PeersReport report)
    {
        page.Line("\n## Durable writes, linearizable reads of one key\n");
        page.Line("| system | operation | in flight | per second | p50 | p99 | fsyncs per write |"
            + " processor: servers | client |");
        page.Line("|---|---|---|---|---|---|---|---|---|");
        foreach (var target in report.Targets)
        {
            foreach (var cell in target.Cells)
            {
                var syncs = cell.Syncs is { } count ? Short(count.PerOperation) : "";
                page.Line($"| {target.Info.Name} | {cell.Operation} | {cell.InFlight} | {cell.Median.PerSecond:0} |"
                    + $" {cell.Median.P50:0} | {cell.Median.P99:0} | {syncs} |"
                    + $" {cell.ServerMicroseconds:0.0} | {cell.ClientMicroseconds:0.0} |");
            }
        }

        foreach (var echo in report.Baselines.Echo)
            page.Line($"| bare echo | | {echo.InFlight} | {echo.Median.PerSecond:0} | {echo.Median.P50:0} |"
                + $" {echo.Median.P99:0} | | | |");
        var disk = report.Baselines.Disk;
        page.Line($"| bare write+fdatasync | | 1 | {disk.PerSecond:0} | {disk.P50:0} | {disk.P99:0} | 1 | | |");
    }

    private static void Meanings(StringBuilder page, PeersReport report)
    {
        page.Line("\n## What is compared with what\n");
        page.Line("| system | version | copies on disk | server processes | settings | write | read | client |");
        page.Line("|---|---|---|---|---|---|---|---|");
        foreach (var target in report.Targets)
        {
            var info = target.Info;
            page.Line($"| {info.Name} | {target.Version} | {info.Replicas} | {info.Servers} | {info.Settings} |"
                + $" {info.Write} | {info.Read} | {info.Client} |");
        }
    }

    private static void Notes(StringBuilder page, PeersReport report)
    {
        page.Line($"\nSyncs are system calls ({SyncCounter.Calls}) of all server processes, counted by strace in a"
            + " run of its own after the rounds. strace slows the servers, so other numbers of writes may share a sync"
            + " there.\n");
        foreach (var skipped in report.Skipped) page.Line($"- {skipped.Name} was skipped: {skipped.Reason}.");
        foreach (var target in report.Targets)
        {
            if (target.Fault is { } fault) page.Line($"- {target.Info.Name} is not compared: {fault}");
            if (target.NotCounted is { } reason) page.Line($"- {target.Info.Name}: syncs not counted, {reason}.");
        }
    }

    private static string Short(double value) =>
        value.ToString(value < 0.1 ? "0.000" : "0.00", CultureInfo.InvariantCulture);

    private static void Line(this StringBuilder page, string line) => page.Append(line).Append('\n');
}
