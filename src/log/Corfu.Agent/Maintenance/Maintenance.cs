namespace Corfu.Agent;

/// <summary>The background jobs of a cluster: joining replicas are rebuilt (TOCS 2.5, Fig. 5 C), small segments
/// migrated (TOCS 2.6), replicas compared. The first live agent in the order of endpoints works; every other one asks
/// the agent before it whether a job was passed on (<see cref="BackgroundJob"/>). Two agents that do not see each other
/// may work at once. A run that is cut short loses nothing: what is done is in the projection and on the
/// units.</summary>
internal sealed class Maintenance(Lock gate, AgentOptions options, ClusterView view, Monitor monitor, ITransport probes,
    ITransport transport, TimeProvider time, AgentClock clock, IEntropy entropy, ILogger logger,
    LoopContext? loops)
{
    // Guarded by gate, like all below.
    private readonly BackgroundJob _rebuild = new(JobKind.Rebuild, options.RefreshInterval);
    private readonly BackgroundJob _migration = new(JobKind.Migration, options.RefreshInterval);
    private readonly BackgroundJob _scrub = new(JobKind.Scrub, options.Scrub?.Interval ?? TimeSpan.Zero);
    private Migrator? _migrator;
    private ScrubProgress? _scrubbed;

    // The agent before this one, the jobs that it has passed on, and its last answer.
    private NodeAddress? _predecessor;
    private ImmutableArray<JobKind> _passedOn = [];
    private TimeSpan _heard;
    private TimeSpan _nextAsk;
    private bool _isAsking;

    private BackgroundJob[] Jobs => [_rebuild, _migration, _scrub];

    /// <summary>Completes when no job runs.</summary>
    public Task Ended
    {
        get
        {
            lock (gate) return Task.WhenAll(Jobs.Select(job => job.Running));
        }
    }

    /// <param name="isChanging">A reconfiguration is under way.</param>
    public void Step(bool isChanging, CancellationToken stopped)
    {
        lock (gate)
        {
            if (view.Projection is not { } projection || !view.Automation.IsOn)
            {
                foreach (var job in Jobs) job.BecomeIneligible();
                return;
            }

            AskPredecessorIfDue(stopped);
            // The migrator copies to the replicas that join for a migration.
            Step(_rebuild, Rebuilder.IsNeeded(projection, _migrator?.Moving), projection);
            // A migration under way keeps its segment from being ready for another.
            Step(_migration,
                _migration.IsRunning || MigrationPlan.Next(projection, options.MaxSegments, Answers) is not null,
                projection);
            Step(_scrub, options.Scrub is not null, projection);
            var now = clock.Now;
            if (_rebuild.MayStart(now, options.BackOffStep)) StartRebuild(projection, stopped);
            // An agent that has just started does not know the others yet.
            if (!isChanging && !_rebuild.IsRunning && _migration.MayStart(now, options.LeadAfter))
                StartMigration(projection, stopped);
            if (_scrub.MayStart(now, options.ScrubAfter)) StartScrub(projection, options.Scrub!, stopped);
        }
    }

    /// <summary>The jobs that this agent works at, and those that it has passed on, with the reason.</summary>
    public ImmutableArray<WorkReport> Report()
    {
        var now = clock.Now;
        return
        [
            .. from job in Jobs
               where job.IsRunning || job.PassedOn is not null
               let progress = job.Progress?.Invoke()
                   ?? new JobProgress(job.Kind.ToString().ToLowerInvariant(), 0, 0, 0, null)
               select new WorkReport(job.Kind, progress.What, progress.Done, progress.Total, progress.Bytes,
                   job.IsRunning ? (long)(now - job.Began).TotalMilliseconds : 0, job.PassedOn is not null,
                   job.PassedOn ?? progress.Trouble ?? ""),
        ];
    }

    private void Step(BackgroundJob job, bool isNeeded, Projection projection)
    {
        var mayWork = _predecessor is null || _passedOn.Contains(job.Kind);
        if (!mayWork) job.BecomeIneligible();
        else if (!isNeeded) job.BecomeUnneeded();
        else job.BecomeEligible(clock.Now);
        if (job.EligibleSince is not null && job.PassOnIfStalled(projection.Epoch, clock.Now, options))
            AgentLog.PassedOn(logger, job.Kind.ToString(), job.PassedOn!);
    }

    private void AskPredecessorIfDue(CancellationToken stopped)
    {
        var predecessor = monitor.Predecessor;
        if (predecessor != _predecessor)
        {
            _predecessor = predecessor;
            _passedOn = [];
            _heard = clock.Now;
        }

        if (_predecessor is not { } agent || _isAsking || clock.Now < _nextAsk) return;
        _isAsking = true;
        _ = AskAsync(agent, stopped).ReportAsync(logger);
    }

    private async Task AskAsync(NodeAddress agent, CancellationToken stopped)
    {
        await Task.Yield();
        var info = await probes.TryCallAsync(agent, new AgentInfoRequest(view.Epoch), options.ProbeTimeout, time,
            stopped);
        lock (gate)
        {
            _isAsking = false;
            _nextAsk = clock.Now + options.RefreshInterval;
            if (agent != _predecessor) return;
            if (info is { IsOk: true })
            {
                _heard = clock.Now;
                _passedOn = [.. from work in info.Work where work.IsPassedOn select work.Job];
            }
            else if (clock.Now - _heard >= options.StalledJobLimit)
            {
                // An agent that never answers passes all on.
                _passedOn = [.. Jobs.Select(job => job.Kind)];
            }
            if (Planted.Is("work-is-not-passed-on")) _passedOn = [];
        }
    }

    private bool Answers(NodeId unit)
    {
        lock (gate)
            return monitor.Find(unit) is { } node
                && monitor.VerdictOf(node).Health is NodeHealth.Alive or NodeHealth.Slow;
    }

    private void StartRebuild(Projection projection, CancellationToken stopped)
    {
        // Missing replicas come first. The rebuild also copies what the migration has begun, which then goes on there.
        _migration.Stop?.Cancel();
        var client = ClientOf(projection);
        var rebuilder = new Rebuilder(client, transport, time, logger, options.Rebuild);
        Start(_rebuild, client, Progress, RunAsync, stopped);

        JobProgress Progress() => ProgressOf($"rebuild of {NamesOf(rebuilder.Progress.Targets)}", rebuilder.Progress);

        async Task RunAsync(CancellationToken cancellationToken)
        {
            AgentLog.Rebuilding(logger, projection.ToString());
            var rebuilt = await rebuilder.RunAsync(cancellationToken);
            var progress = rebuilder.Progress;
            AgentLog.RebuildDone(logger, progress.Copied, progress.CopiedBytes, progress.Elapsed.TotalSeconds);
            view.Adopt(rebuilt);
        }
    }

    private void StartMigration(Projection projection, CancellationToken stopped)
    {
        var client = ClientOf(projection);
        var migrator = _migrator = new Migrator(client, transport, time, options.Migration);
        var reason = new ReconfigurationReason(true, options.Self.ToString(), "migration").ToString();
        Start(_migration, client, Progress, RunAsync, stopped);

        JobProgress Progress() => ProgressOf($"migration of {RangeOf(migrator.Moving)}", migrator.Progress);

        async Task RunAsync(CancellationToken cancellationToken)
        {
            AgentLog.Migrating(logger, projection.Segments.Length, projection.ToString());
            view.Adopt(await migrator.CompactAsync(options.MaxSegments, reason, Answers, cancellationToken));
        }
    }

    private void StartScrub(Projection projection, ScrubOptions scrub, CancellationToken stopped)
    {
        var client = ClientOf(projection);
        var scrubber = new Scrubber(client, time, logger, scrub, _scrubbed);
        Start(_scrub, client, () => ProgressOf(scrubber.Progress), RunAsync, stopped);

        async Task RunAsync(CancellationToken cancellationToken)
        {
            try
            {
                await scrubber.RunPassAsync(cancellationToken);
            }
            finally
            {
                lock (gate) _scrubbed = scrubber.Progress;
            }
        }
    }

    private CorfuClient ClientOf(Projection projection) =>
        new(projection, transport, time, entropy, null, logger, loops);

    private void Start(BackgroundJob job, CorfuClient client, Func<JobProgress> progress,
        Func<CancellationToken, Task> run, CancellationToken stopped) =>
        job.Running = RunAsync(job, client, run, job.BecomeRunning(clock.Now, progress, stopped));

    private async Task RunAsync(BackgroundJob job, CorfuClient client, Func<CancellationToken, Task> run,
        CancellationToken cancellationToken)
    {
        // Outside the gate, which the caller holds.
        await Task.Yield();
        var isDone = false;
        try
        {
            await using (client) await run(cancellationToken);
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
            lock (gate)
            {
                if (job == _migration) _migrator = null;
                job.Ended(isDone, clock.Now, options.RefreshInterval);
            }
        }
    }

    private string NamesOf(ImmutableArray<NodeId> units)
    {
        var known = view.Projection;
        return string.Join(", ",
            units.Select(unit => known?.HasUnit(unit) == true ? $"{known.AddressOf(unit).Endpoint}" : $"{unit}"));
    }

    private static string RangeOf((LogPosition From, LogPosition Until)? range) =>
        range is { } moving ? $"{moving.From.Offset} to {moving.Until.Offset}" : "segments";

    private static JobProgress ProgressOf(string what, RebuildProgress progress) =>
        new(what, progress.Done, progress.Total, progress.CopiedBytes, progress.Trouble);

    private static JobProgress ProgressOf(ScrubProgress scrub)
    {
        var what = $"scrub {scrub.Pass}";
        if (scrub.Mended + scrub.Unrecoverable + scrub.Diverged > 0)
            what += $" ({scrub.Mended} mended, {scrub.Unrecoverable} without a good copy, {scrub.Diverged} differ)";
        return new JobProgress(what, scrub.Done, scrub.Done + (scrub.Until - scrub.Next), 0, null);
    }
}
