using System.Diagnostics;
using System.Globalization;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary>Points of a section, each a system under one load, and the table of their figures.</summary>
/// <param name="reports">Named by system and load.</param>
internal sealed class ServicePoints(IReadOnlyList<PointReport> reports)
{
    /// <summary>Load generators; each has its own connections.</summary>
    public const int Processes = 2;

    /// <summary>Operations at once of the points that a quick run has.</summary>
    public const int Window = 64;

    /// <param name="system">Begins the row, and names the point with the load.</param>
    public static PointCase Case(string system, WorkloadKind kind, int inFlight, int size, bool isDurable = true,
        WorkloadSetting? setting = null, int processes = Processes, string? load = null) =>
        PointCase.Even(system, inFlight, load ?? LoadOf(inFlight, size), processes, inFlight, kind,
            _ => setting ?? WorkloadSetting.Default) with
        {
            Size = size,
            IsDurable = isDurable,
            InQuick = inFlight == Window,
        };

    public static string LoadOf(int inFlight, int size) =>
        string.Create(CultureInfo.InvariantCulture, $"{size} B, {inFlight} in flight");

    /// <summary>Processor seconds of a process since its start.</summary>
    public static double ProcessorSeconds(int processId)
    {
        using var process = Process.GetProcessById(processId);
        return process.TotalProcessorTime.TotalSeconds;
    }

    /// <returns>Null: a quick run has no such point, or its server is not installed.</returns>
    public PointReport? Find(string system, string load) =>
        reports.FirstOrDefault(report => report.Series == system && report.Label == load);

    /// <summary>The median of the rounds' ratios.</summary>
    /// <returns>Null where one of the points is missing.</returns>
    public double? Ratio(string system, string other, string load) =>
        Find(system, load) is { } own && Find(other, load) is { } baseline
            ? RoundResult.Middle(own.Rounds.Zip(baseline.Rounds, static (a, b) => a.PerSecond / b.PerSecond))
            : null;

    /// <summary>A row for each point. One whose operations failed says nothing about speed.</summary>
    public void AddTo(FigureSection section)
    {
        // Points with equal sizes, windows and connections share their rounds of the echo, those with equal sizes of
        // the disk.
        var baselines = reports.DistinctBy(report => report.Echo[0]).Select(report => string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Label} {Rate(report.Echo):#,0}/s (p50 {report.EchoMedian!.P50:0} us)"));
        var disks = reports.Where(report => report.DiskMedian is not null)
            .DistinctBy(report => report.Disk[0]).Select(report => string.Create(
                CultureInfo.InvariantCulture, $"{report.Label} {report.DiskMedian!.P50:0} us"));
        section.Note($"Bare echo of the same rounds, bytes and connections: {string.Join("; ", baselines)}. One "
            + $"caller's bare write and fdatasync, p50: {string.Join("; ", disks.DefaultIfEmpty("not measured"))}. "
            + "\"Of echo\": operations/s beside the echo's. \"Servers us\", \"generators us\": processor time for an "
            + "operation. p99 is of all rounds together, and only where ten operations took longer.");
        section.Columns("system", "load", "per second", "least to most", "p50 us", "p99 us", "of echo", "servers us",
            "generators us");
        foreach (var report in reports) Row(section, report);
    }

    private static void Row(FigureSection section, PointReport report)
    {
        var median = report.Median;
        var rates = report.Rounds.Select(round => round.PerSecond).Order().ToArray();
        var servers = Cost(report, static cost => cost.Servers);
        var p99 = report.Percentiles.FirstOrDefault(static point => point.Percent == 99);
        section.Row(report.Series, report.Label, Cell.Count(RoundResult.Middle(rates)),
            $"{Cell.Count(rates[0])} to {Cell.Count(rates[^1])}", Cell.Time(median.P50),
            p99 is null ? "" : Cell.Time(p99.Microseconds),
            Cell.Ratio(RoundResult.Middle(report.Rounds.Zip(report.Echo, static (a, b) => a.PerSecond / b.PerSecond))),
            servers > 0 ? Cell.Time(servers) : "", Cell.Time(Cost(report, static cost => cost.Generators)));
        if (median.Failures > 0) section.Problem($"{report.Series}, {report.Label}: {median.Failures} failures");
        if (report.Echo.Sum(static round => round.Failures) is > 0 and var failures)
            section.Problem($"bare echo of {report.Series}, {report.Label}: {failures} failures");
    }

    /// <summary>The middle of the rounds' rates, in operations a second.</summary>
    public static double Rate(IEnumerable<RoundResult> rounds) =>
        RoundResult.Middle(rounds.Select(static round => round.PerSecond));

    private static double Cost(PointReport report, Func<PointCost, double> part) => RoundResult.Middle(
        report.Rounds.Zip(report.Costs, (round, cost) => part(cost) * 1e6 / Math.Max(1, round.Operations)));
}
