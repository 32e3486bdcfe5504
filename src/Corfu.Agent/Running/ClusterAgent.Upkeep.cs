using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// Long work that a cluster needs once: what is joining is rebuilt (TOCS 2.5, Fig. 5 C), small segments are migrated (TOCS 2.6), replicas are
/// compared. The first of the agents alive does it, by the same order as for reconfigurations. Two at once, where agents do not see each other,
/// would do no harm. Nothing is lost when a run is cut short: what is done is in the projection and on the units.
/// </summary>
public sealed partial class ClusterAgent
{
    // Guarded by _gate. The workers are those of the runs under way, for their progress.
    private readonly Chore _rebuild = new();
    private readonly Chore _migration = new();
    private readonly Chore _scrub = new();
    private Rebuilder? _rebuilder;
    private Migrator? _migrator;
    private Scrubber? _scrubber;
    private ScrubProgress? _scrubbed;
    private TimeSpan _leadsSince = TimeSpan.MaxValue;
    private TimeSpan _neededSince = TimeSpan.MaxValue;

    private void ConsiderUpkeep()
    {
        lock (_gate)
        {
            var now = Now;
            if (_projection is not { } projection || !_automation.IsOn || RankAmongAgents(static _ => false, now) > 0)
            {
                _leadsSince = _neededSince = TimeSpan.MaxValue;
                foreach (var chore in (Chore[])[_rebuild, _migration, _scrub]) chore.Stop?.Cancel();
                return;
            }

            if (_leadsSince == TimeSpan.MaxValue) _leadsSince = now;
            ConsiderRebuild(projection, now);
            // Who has just started does not know yet who else is there.
            if (now - _leadsSince < _options.LeadAfter) return;
            ConsiderMigration(projection, now);
            if (_options.Scrub is { } scrub && !_scrub.IsRunning && now >= _scrub.NotBefore && now - _leadsSince >= _options.ScrubAfter)
                Start(_scrub, projection, (client, stop) => ScrubAsync(client, scrub, stop), scrub.Interval);
        }
    }

    // Guarded by the caller.
    private void ConsiderRebuild(Projection projection, TimeSpan now)
    {
        // What is joining for the sake of a migration is the migrator's.
        if (!Rebuilder.IsNeeded(projection, _migrator?.Moving))
        {
            _neededSince = TimeSpan.MaxValue;
            return;
        }

        if (_neededSince == TimeSpan.MaxValue) _neededSince = now;
        if (_rebuild.IsRunning || now < _rebuild.NotBefore || now - _neededSince < _options.BackOffStep) return;
        // Replicas that are missing come first. The rebuild copies what the migration has begun, too, and that goes on from there.
        _migration.Stop?.Cancel();
        Start(_rebuild, projection, RebuildAsync, _options.RefreshInterval);
    }

    // Guarded by the caller.
    private void ConsiderMigration(Projection projection, TimeSpan now)
    {
        if (_migration.IsRunning || _rebuild.IsRunning || _acting is not null || now < _migration.NotBefore) return;
        if (MigrationPlan.Next(projection, _options.MaxSegments, Answers) is null) return;
        Start(_migration, projection, MigrateAsync, _options.RefreshInterval);
    }

    private bool Answers(NodeId unit)
    {
        lock (_gate) return _subjects.TryGetValue(unit, out var subject) && VerdictOf(subject, Now).Health is NodeHealth.Alive or NodeHealth.Slow;
    }

    // Guarded by the caller.
    private void Start(Chore chore, Projection projection, Func<CorfuClient, CancellationToken, Task> run, TimeSpan interval)
    {
        chore.Began = Now;
        chore.Stop = CancellationTokenSource.CreateLinkedTokenSource(_stopped);
        chore.Running = RunAsync(chore, chore.Stop, new CorfuClient(projection, _transport, _time, _entropy, null, _logger), run, interval);
    }

    private async Task RunAsync(Chore chore, CancellationTokenSource stop, CorfuClient client, Func<CorfuClient, CancellationToken, Task> run, TimeSpan interval)
    {
        // Off the gate before anything else.
        await Task.Yield();
        var done = false;
        try
        {
            await using (client) await run(client, stop.Token);
            done = true;
        }
        catch (CorfuException e)
        {
            AgentLog.ChoreFailed(_logger, e.Message);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // Another run, here or elsewhere, goes on from there.
        }
        finally
        {
            lock (_gate)
            {
                chore.Stop = null;
                var next = done ? chore.Began + interval : Now + _options.RefreshInterval;
                chore.NotBefore = next > Now ? next : Now;
            }

            stop.Dispose();
        }
    }

    private async Task RebuildAsync(CorfuClient client, CancellationToken cancellationToken)
    {
        var rebuilder = new Rebuilder(client, _transport, _time, _logger, _options.Rebuild);
        lock (_gate) _rebuilder = rebuilder;
        try
        {
            AgentLog.Rebuilding(_logger, client.Projection.ToString());
            var rebuilt = await rebuilder.RunAsync(cancellationToken);
            var progress = rebuilder.Progress;
            AgentLog.RebuildDone(_logger, progress.Copied, progress.CopiedBytes, progress.Elapsed.TotalSeconds);
            Adopt(rebuilt);
        }
        finally
        {
            lock (_gate) _rebuilder = null;
        }
    }

    private async Task MigrateAsync(CorfuClient client, CancellationToken cancellationToken)
    {
        var migrator = new Migrator(client, _transport, _time, _options.Migration);
        lock (_gate) _migrator = migrator;
        try
        {
            var reason = new ReconfigurationReason(true, _options.Self.ToString(), "migration").ToString();
            AgentLog.Migrating(_logger, client.Projection.Segments.Length, client.Projection.ToString());
            Adopt(await migrator.CompactAsync(_options.MaxSegments, reason, Answers, cancellationToken));
        }
        finally
        {
            lock (_gate) _migrator = null;
        }
    }

    private async Task ScrubAsync(CorfuClient client, ScrubOptions options, CancellationToken cancellationToken)
    {
        var scrubber = new Scrubber(client, _time, _logger, options, _scrubbed);
        lock (_gate) _scrubber = scrubber;
        try
        {
            await scrubber.RunPassAsync(cancellationToken);
        }
        finally
        {
            lock (_gate)
            {
                _scrubbed = scrubber.Progress;
                _scrubber = null;
            }
        }
    }

    // Guarded by the caller.
    private ImmutableArray<WorkReport> Work()
    {
        var work = ImmutableArray.CreateBuilder<WorkReport>();
        if (_rebuilder?.Progress is { } rebuild)
        {
            var targets = rebuild.Targets.Select(target => _projection?.HasUnit(target) == true ? _projection.AddressOf(target).Endpoint.ToString() : target.ToString());
            work.Add(Report($"rebuild of {string.Join(", ", targets)}", rebuild));
        }

        if (_migrator is { Moving: { } moving } migrator) work.Add(Report($"migration of {moving.From.Offset} to {moving.Until.Offset}", migrator.Progress));
        if (_scrubber?.Progress is { Pass: > 0 } scrub)
        {
            var found = scrub.Mended + scrub.Unrecoverable + scrub.Diverged;
            var what = found == 0 ? $"scrub {scrub.Pass}" : $"scrub {scrub.Pass} ({scrub.Mended} mended, {scrub.Unrecoverable} without a good copy, {scrub.Diverged} differ)";
            work.Add(new WorkReport(what, scrub.Done, scrub.Done + (scrub.Until - scrub.Next), 0, (long)(Now - _scrub.Began).TotalMilliseconds));
        }

        return work.DrainToImmutable();
    }

    private static WorkReport Report(string what, RebuildProgress progress) => new(
        progress.Trouble is { } trouble ? $"{what} ({trouble})" : what, progress.Done, progress.Total, progress.CopiedBytes, (long)progress.Elapsed.TotalMilliseconds);

    private async Task EndUpkeepAsync()
    {
        Task[] running;
        lock (_gate) running = [_rebuild.Running, _migration.Running, _scrub.Running];
        foreach (var run in running) await run;
    }
}
