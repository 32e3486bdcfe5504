using System.Globalization;
using Corfu;
using Corfu.Client;
using JobScheduler.Cli;
using JobScheduler.Reporting;
using JobScheduler.Scheduling;
using JobScheduler.Silos;
using JobScheduler.Workloads;
using Tango;

namespace JobScheduler.App;

/// <summary>A run from the first line of output to the last.</summary>
public sealed class SchedulerApp(SchedulerOptions options, Workload workload, ILogSource source, TextWriter output,
    TextWriter errors, IProgressDisplay display)
{
    private const int TurnsPerReplica = 8;

    private readonly TimeProvider _time = TimeProvider.System;
    private readonly List<TimeSpan> _appends = [];

    /// <summary>Runs to the end and returns the exit code.</summary>
    /// <exception cref="OperationCanceledException">Stopped; <see cref="SayHowToResume"/> tells how to go
    /// on.</exception>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        string fingerprint = workload.Fingerprint();
        string run = options.Run ?? fingerprint[..12];
        await output.WriteLineAsync(Text(
            $"{workload.Jobs.Count:N0} jobs on {workload.Nodes:N0} nodes ({workload.Name}), {options.Replicas} ")
            + Text($"scheduler replicas, run {run}"));
        await output.WriteLineAsync(source.Description);
        await using IReplicaSet replicas = await OpenAsync(run, cancellationToken);
        if (await replicas.SetUpAsync(cancellationToken) != fingerprint)
        {
            await errors.WriteLineAsync(
                $"error: run \"{run}\" in this log belongs to another workload; give it another --run name.");
            return ExitCodes.Usage;
        }

        ICorfuLog probe = await source.ConnectAsync(cancellationToken);
        _appends.AddRange(await AppendProbe.MeasureAsync(probe, _time, cancellationToken));
        int resumed = await DoneAsync(probe, run, cancellationToken);
        if (resumed > 0)
            await output.WriteLineAsync(Text($"resuming: {resumed:N0} of {workload.Jobs.Count:N0} jobs are done"));
        TimeSpan elapsed = await RunReplicasAsync(replicas, cancellationToken);
        _appends.AddRange(await AppendProbe.MeasureAsync(probe, _time, cancellationToken));
        return await ReportAsync(replicas.Progress, run, resumed, elapsed, cancellationToken);
    }

    /// <summary>To be called when the run was stopped.</summary>
    public void SayHowToResume()
    {
        output.WriteLine();
        output.WriteLine(source.ResumeArguments is { } arguments
            ? $"Stopped. The state is in the log: start again with the same arguments ({arguments}) to continue."
            : "Stopped. The state was in a temporary folder and is gone; with --data DIR a run can be continued.");
    }

    private async Task<TimeSpan> RunReplicasAsync(IReplicaSet replicas, CancellationToken cancellationToken)
    {
        long start = _time.GetTimestamp();
        using var stopDisplay = new CancellationTokenSource();
        Task showing = display.RunAsync(
            () => Snapshot(replicas.Progress, _time.GetElapsedTime(start)), stopDisplay.Token);
        try
        {
            await replicas.RunAsync(cancellationToken);
            return _time.GetElapsedTime(start);
        }
        finally
        {
            await stopDisplay.CancelAsync();
            await showing;
        }
    }

    private async Task<int> ReportAsync(ReplicaProgress progress, string run, int resumed, TimeSpan elapsed,
        CancellationToken cancellationToken)
    {
        // A runtime that took no part: all it knows, it has from the log.
        FinalState state = await WithFreshStateAsync(
            await source.ConnectAsync(cancellationToken), run, fresh => fresh.FinalAsync(cancellationToken),
            cancellationToken);
        Verdict verdict = Verifier.Check(workload, state);
        var figures = new RunFigures(
            elapsed,
            progress.Committed,
            progress.Aborted,
            AppendProbe.Median(_appends),
            resumed,
            progress.Silos);
        foreach (string line in Summary.Lines(workload, state, figures, verdict))
            await output.WriteLineAsync(line);
        await output.WriteLineAsync(Summary.LastLine(state, figures, verdict));
        return verdict.Ok ? ExitCodes.Success : ExitCodes.Failed;
    }

    private Task<int> DoneAsync(ICorfuLog log, string run, CancellationToken cancellationToken) =>
        WithFreshStateAsync(log, run, async state => await state.Finished.CountAsync(cancellationToken),
            cancellationToken).AsTask();

    private async ValueTask<T> WithFreshStateAsync<T>(
        ICorfuLog log, string run, Func<SchedulerState, ValueTask<T>> read, CancellationToken cancellationToken)
    {
        await using TangoRuntime runtime = SchedulerRuntime.Create(log, _time);
        return await read(await SchedulerState.OpenRunAsync(runtime, run, cancellationToken));
    }

    private ProgressSnapshot Snapshot(ReplicaProgress progress, TimeSpan elapsed) => new(
        progress.Started - progress.Running,
        workload.Jobs.Count,
        progress.Clock,
        workload.Nodes - (progress.FreeNodes ?? workload.Nodes),
        workload.Nodes,
        progress.Committed,
        progress.Aborted,
        elapsed,
        progress.Silos);

    private async Task<IReplicaSet> OpenAsync(string run, CancellationToken cancellationToken) =>
        options.Silos is null
            ? await ReplicaHost.OpenAsync(
                source, run, options.Replicas, workload, Limits(), _time, cancellationToken)
            : await SiloReplicas.OpenAsync(options, source, run, workload, Limits(), cancellationToken);

    // Short workloads get short turns, so that every replica has several.
    private SchedulingLimits Limits()
    {
        var limits = new SchedulingLimits();
        return limits with
        {
            TurnLength = Math.Clamp(workload.Jobs.Count / (options.Replicas * TurnsPerReplica), 1,
                limits.TurnLength)
        };
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
