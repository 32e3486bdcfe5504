using System.Globalization;

namespace JobScheduler.Reporting;

/// <summary>Display of a line every few seconds, for files and pipes.</summary>
public sealed class PlainDisplay(TextWriter output, TimeSpan interval) : IProgressDisplay
{
    public async Task RunAsync(Func<ProgressSnapshot> snapshot, CancellationToken stop)
    {
        using var timer = new PeriodicTimer(interval);
        ProgressSnapshot last = snapshot();
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                ProgressSnapshot now = snapshot();
                await output.WriteLineAsync(Line(now, Rate(last, now)));
                last = now;
            }
        }
        catch (OperationCanceledException)
        {
            // The run is over.
        }
    }

    /// <summary>Transactions per second between two snapshots.</summary>
    public static double Rate(ProgressSnapshot from, ProgressSnapshot to)
    {
        double seconds = (to.Elapsed - from.Elapsed).TotalSeconds;
        return seconds <= 0 ? 0 : (to.Transactions - from.Transactions) / seconds;
    }

    private static string Line(ProgressSnapshot now, double rate) => string.Create(CultureInfo.InvariantCulture,
        $"{now.Elapsed.TotalSeconds,6:F1} s  {now.JobsDone:N0}/{now.Jobs:N0} jobs done, virtual time "
        + $"{Summary.Duration(now.VirtualSeconds)}, {now.NodesInUse}/{now.Nodes} nodes in use, {rate:N0} "
        + $"transactions/s, {now.Aborts:N0} aborts{Silos(now)}");

    private static string Silos(ProgressSnapshot now) => now.Silos is { } silos
        ? string.Create(CultureInfo.InvariantCulture, $", {silos.Count} silos, {silos.Kills} killed so far")
        : "";
}
