using System.Globalization;
using JobScheduler.Objects;
using JobScheduler.Workloads;

namespace JobScheduler.Reporting;

/// <summary>The text at the end of a run.</summary>
public static class Summary
{
    /// <summary>Least share of the committed transactions that is expected of every replica.</summary>
    public const double FairShare = 0.1;

    /// <summary>The readable part, a line each.</summary>
    public static IEnumerable<string> Lines(Workload workload, FinalState state, RunFigures figures, Verdict verdict)
    {
        yield return "";
        yield return Text(
            $"workload            {workload.Name}: {workload.Jobs.Count:N0} jobs on {workload.Nodes:N0} nodes");
        if (figures.Resumed > 0)
            yield return Text($"resumed             {figures.Resumed:N0} jobs had been finished before");
        foreach (string line in Schedule(workload, state))
            yield return line;
        yield return Text($"seconds             {figures.Elapsed.TotalSeconds:F2}");
        foreach (string line in Transactions(state, figures))
            yield return line;
        foreach ((int replica, ReplicaTotals totals) in state.Replicas)
            yield return Replica(replica, totals, state.Transactions);
        foreach (string line in Speed(workload, figures))
            yield return line;
        foreach (string fault in verdict.Faults)
            yield return $"WRONG               {fault}";
        yield return verdict.Ok
            ? "check               a fresh runtime played the log: same start time for every job as the plain scheduler"
            : "check               failed";
        yield return "";
    }

    /// <summary>The last line, for scripts.</summary>
    public static string LastLine(FinalState state, RunFigures figures, Verdict verdict) => Text(
        $"jobs={verdict.Jobs} done={verdict.Done} lost={verdict.Lost} duplicate={verdict.Duplicate} ")
        + Text($"overcommitted={verdict.Overcommitted} nodes_free={verdict.FreeNodes} ")
        + Text($"schedule={(verdict.ScheduleMatches ? "match" : "mismatch")} transactions={state.Transactions} ")
        + Text($"aborted={figures.Aborted} seconds={figures.Elapsed.TotalSeconds:F2}")
        + (figures.Silos is { } silos ? Text($" silos={silos.Count} kills={silos.Kills}") : "");

    /// <summary>Virtual seconds as days and time of day.</summary>
    public static string Duration(double seconds)
    {
        TimeSpan time = TimeSpan.FromSeconds(Math.Round(seconds));
        return time.Days > 0 ? Text($"{time.Days} d {time:hh\\:mm\\:ss}") : Text($"{time:hh\\:mm\\:ss}");
    }

    private static IEnumerable<string> Transactions(FinalState state, RunFigures figures)
    {
        // Transactions that a killed silo had not reported are in the log's count only.
        string who = figures.Silos is null ? "this process" : "the silos reported";
        yield return Text($"transactions        {state.Transactions:N0} committed; {who} {figures.Committed:N0}, with ")
            + Text($"{figures.Aborted:N0} aborted and retried");
        if (figures.Silos is { } silos)
            yield return Text($"silos               {silos.Count} processes, {silos.Kills} killed and replaced; ")
                + Text($"{silos.Activations} activations of the replicas' grains");
    }

    private static IEnumerable<string> Schedule(Workload workload, FinalState state)
    {
        if (state.Finished.Count == 0)
            yield break;
        long first = workload.Jobs[0].SubmitSeconds;
        long last = state.Finished.Values.Max(job => job.FinishSeconds);
        double work = state.Finished.Values.Sum(job => (double)job.Job.NodeSeconds);
        double utilisation = last > first ? work / ((double)workload.Nodes * (last - first)) : 0;
        yield return Text($"virtual time        {Duration(last - first)} from the first submit to the last finish");
        yield return Text($"utilisation         {utilisation:P1}");
        yield return Text(
            $"waiting             mean {Duration(state.Finished.Values.Average(Wait))}, max ")
            + Text($"{Duration(state.Finished.Values.Max(Wait))}; ")
            + Text($"{state.Finished.Values.Count(job => Wait(job) > 0):N0} jobs waited");
        yield return Text(
            $"users               {state.Usage.Count:N0}, ")
            + Text($"{state.Usage.Values.Sum(usage => usage.NodeSeconds) / 3600.0:N0} node hours");
    }

    private static string Replica(int replica, ReplicaTotals totals, long all)
    {
        double share = all == 0 ? 0 : (double)totals.Total / all;
        string remark = share < FairShare ? Text($"  below {FairShare:P0}") : "";
        return Text(
            $"  replica {replica,-9} {totals.Total,9:N0} = {share:P1}: {totals.Submits:N0} submits, ")
            + Text($"{totals.Starts:N0} starts, {totals.Finishes:N0} finishes{remark}");
    }

    private static IEnumerable<string> Speed(Workload workload, RunFigures figures)
    {
        int jobs = workload.Jobs.Count - figures.Resumed;
        if (figures.AppendMedian <= TimeSpan.Zero || jobs == 0)
            yield break;
        double appends = figures.Elapsed / figures.AppendMedian / jobs;
        yield return Text(
            $"durable append      p50 {figures.AppendMedian.TotalMicroseconds:N0} us, one in flight; the run took ")
            + Text($"{appends:F2} of them per job");
    }

    private static double Wait(FinishedJob job) => job.StartSeconds - job.Job.SubmitSeconds;

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
