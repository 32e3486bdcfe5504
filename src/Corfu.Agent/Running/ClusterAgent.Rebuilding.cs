using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What is joining is brought up to date in the background (TOCS 2.5, Fig. 5 C), by the first agent in order.</summary>
public sealed partial class ClusterAgent
{
    // Guarded by _gate. _rebuilder: of the run under way.
    private Task _rebuilding = Task.CompletedTask;
    private Rebuilder? _rebuilder;
    private TimeSpan _neededSince = TimeSpan.MaxValue;
    private TimeSpan _rebuildNotBefore;

    private void ConsiderRebuild()
    {
        lock (_gate)
        {
            var now = Now;
            if (_projection is not { } projection || !_automation.IsOn || _rebuilder is not null || !Rebuilder.IsNeeded(projection))
            {
                _neededSince = TimeSpan.MaxValue;
                return;
            }

            if (_neededSince == TimeSpan.MaxValue) _neededSince = now;
            // Several runs at once do no harm and no good. Which of the agents begins is settled as for reconfigurations.
            if (now < _rebuildNotBefore || now - _neededSince < _options.BackOffStep * (1 + (4 * RankAmongAgents(now)))) return;
            var client = new CorfuClient(projection, _transport, _time, _entropy, null, _logger);
            _rebuilder = new Rebuilder(client, _transport, _time, _logger, _options.Rebuild);
            _rebuilding = RebuildAsync(client, _rebuilder, projection);
        }
    }

    private async Task RebuildAsync(CorfuClient client, Rebuilder rebuilder, Projection projection)
    {
        // Off the gate before anything else.
        await Task.Yield();
        try
        {
            await using (client)
            {
                AgentLog.Rebuilding(_logger, projection.ToString());
                var rebuilt = await rebuilder.RunAsync(_stopped);
                var progress = rebuilder.Progress;
                AgentLog.RebuildDone(_logger, progress.Copied, progress.CopiedBytes, progress.Elapsed.TotalSeconds);
                Adopt(rebuilt);
            }
        }
        catch (CorfuException e)
        {
            AgentLog.RebuildFailed(_logger, e.Message);
        }
        catch (OperationCanceledException)
        {
            // Stopped: another agent goes on from there.
        }
        finally
        {
            lock (_gate)
            {
                _rebuilder = null;
                _rebuildNotBefore = Now + _options.RefreshInterval;
            }
        }
    }

    // Guarded by the caller.
    private ImmutableArray<WorkReport> Work()
    {
        if (_rebuilder?.Progress is not { } progress) return [];
        var targets = progress.Targets.Select(target => _projection?.HasUnit(target) == true ? _projection.AddressOf(target).Endpoint.ToString() : target.ToString());
        var what = $"rebuild of {string.Join(", ", targets)}";
        if (progress.Trouble is { } trouble) what += $" ({trouble})";
        return [new WorkReport(what, progress.Done, progress.Total, (long)progress.Elapsed.TotalMilliseconds)];
    }
}
