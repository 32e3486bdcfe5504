namespace Corfu.Agent;

/// <summary>Runs background jobs beside the agent's loop, which only learns how they end: copying a unit's entries must
/// not delay a probe.</summary>
/// <param name="jobs">Runs the jobs.</param>
internal sealed class JobRunner(AgentLoop loop, LoopContext jobs, ClusterView view, TimeSpan retryAfter,
    AgentClock clock, ILogger logger)
{
    /// <param name="run">Returns the newest projection that it knows; null: it knows none.</param>
    public void Start(BackgroundJob job, Func<JobProgress> progress, Func<CancellationToken, Task<Projection?>> run,
        CancellationToken stopped)
    {
        var stop = job.BecomeRunning(clock.Now, progress, stopped);
        job.Running = loop.Run(() => RunAsync(job, run, stop));
    }

    private async Task RunAsync(BackgroundJob job, Func<CancellationToken, Task<Projection?>> run,
        CancellationToken cancellationToken)
    {
        var isDone = false;
        try
        {
            if (await jobs.RunAsync(() => run(cancellationToken)) is { } newest) view.Adopt(newest);
            isDone = true;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // Another run goes on from there, here or at another agent.
        }
        catch (CorfuException e)
        {
            AgentLog.JobFailed(logger, job.Kind.ToString(), e.Message);
        }
        catch (Exception e)
        {
            AgentLog.TaskFailed(logger, e);
        }
        finally
        {
            job.Ended(isDone, clock.Now, retryAfter);
        }
    }
}
