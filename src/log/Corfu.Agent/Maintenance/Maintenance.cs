namespace Corfu.Agent;

/// <summary>The background jobs of a cluster: joining replicas are rebuilt (TOCS 2.5, Fig. 5 C), small segments
/// migrated (TOCS 2.6), replicas compared. One agent works at a job (<see cref="JobTurns"/>) until it passes the job on
/// (<see cref="BackgroundJob"/>). Two agents that do not see each other may work at once. A run that is cut short loses
/// nothing: what is done is in the projection and on the units.</summary>
internal sealed class Maintenance(AgentOptions options, ClusterView view, Verdicts verdicts, JobTurns turns,
    JobClients clients, JobRunner runner, AgentClock clock, ILogger logger)
{
    private readonly BackgroundJob _rebuild = new(JobKind.Rebuild, options.RefreshInterval);
    private readonly BackgroundJob _migration = new(JobKind.Migration, options.RefreshInterval);
    private readonly BackgroundJob _scrub = new(JobKind.Scrub, options.Scrub?.Interval ?? TimeSpan.Zero);
    private Migrator? _migrator;
    private Scrubber? _scrubber;

    // The units that answer, as of the last step. Replaced whole: a migration reads them from its own thread.
    private volatile HashSet<NodeId> _answering = [];

    private BackgroundJob[] Jobs => [_rebuild, _migration, _scrub];

    /// <summary>Completes when no job runs.</summary>
    public Task Ended => Task.WhenAll(Jobs.Select(job => job.Running));

    /// <param name="isChanging">A reconfiguration is under way.</param>
    public void Step(bool isChanging, CancellationToken stopped)
    {
        if (view.Projection is not { } projection || !view.Automation.IsOn)
        {
            foreach (var job in Jobs) job.BecomeIneligible();
            return;
        }

        turns.Step(stopped);
        _answering = [.. verdicts.Answering(NodeRole.Unit)];
        // The migrator copies to the replicas that join for a migration.
        Step(_rebuild, Rebuilder.IsNeeded(projection, _migrator?.Moving));
        // A migration under way keeps its segment from being ready for another.
        var plan = MigrationPlan.Next(projection, options.MaxSegments, _answering.Contains);
        Step(_migration, _migration.IsRunning || plan is not null);
        Step(_scrub, options.Scrub is not null);
        var now = clock.Now;
        if (_rebuild.MayStart(now, options.BackOffStep)) StartRebuild(projection, stopped);
        // An agent that has just started does not know the others yet.
        if (!isChanging && !_rebuild.IsRunning && _migration.MayStart(now, options.LeadAfter))
            StartMigration(projection, stopped);
        if (_scrub.MayStart(now, options.ScrubAfter)) StartScrub(projection, options.Scrub!, stopped);
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

    private void Step(BackgroundJob job, bool isNeeded)
    {
        if (!turns.MayWork(job.Kind)) job.BecomeIneligible();
        else if (!isNeeded) job.BecomeUnneeded();
        else job.BecomeEligible(clock.Now);
        if (job.EligibleSince is not null && job.PassOnIfStalled(view.MembersSince, clock.Now, options))
            AgentLog.PassedOn(logger, job.Kind.ToString(), job.PassedOn!);
    }

    private void StartRebuild(Projection projection, CancellationToken stopped)
    {
        // Missing replicas come first. The rebuild also copies what the migration has begun, which then goes on there.
        _migration.Stop?.Cancel();
        var client = clients.Open(projection);
        var rebuilder = clients.NewRebuilder(client, options.Rebuild);
        runner.Start(_rebuild, Progress, RunAsync, stopped);

        JobProgress Progress() => ProgressOf($"rebuild of {NamesOf(rebuilder.Progress.Targets)}", rebuilder.Progress);

        async Task<Projection?> RunAsync(CancellationToken cancellationToken)
        {
            await using var open = client;
            AgentLog.Rebuilding(logger, projection.ToString());
            var rebuilt = await rebuilder.RunAsync(cancellationToken);
            var progress = rebuilder.Progress;
            AgentLog.RebuildDone(logger, progress.Copied, progress.CopiedBytes, progress.Elapsed.TotalSeconds);
            return rebuilt;
        }
    }

    private void StartMigration(Projection projection, CancellationToken stopped)
    {
        var client = clients.Open(projection);
        var migrator = _migrator = clients.NewMigrator(client, options.Migration);
        var reason = new ReconfigurationReason(true, options.Self.ToString(), "migration").ToString();
        runner.Start(_migration, Progress, RunAsync, stopped);

        JobProgress Progress() => ProgressOf($"migration of {RangeOf(migrator.Moving)}", migrator.Progress);

        async Task<Projection?> RunAsync(CancellationToken cancellationToken)
        {
            await using var open = client;
            AgentLog.Migrating(logger, projection.Segments.Length, projection.ToString());
            return await migrator.CompactAsync(
                options.MaxSegments, reason, unit => _answering.Contains(unit), cancellationToken);
        }
    }

    private void StartScrub(Projection projection, ScrubOptions scrub, CancellationToken stopped)
    {
        var client = clients.Open(projection);
        var scrubber = _scrubber = clients.NewScrubber(client, scrub, _scrubber?.Progress);
        runner.Start(_scrub, () => ProgressOf(scrubber.Progress), RunAsync, stopped);

        async Task<Projection?> RunAsync(CancellationToken cancellationToken)
        {
            await using var open = client;
            await scrubber.RunPassAsync(cancellationToken);
            return null;
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
