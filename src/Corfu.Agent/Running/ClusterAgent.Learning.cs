using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>The newest projection: from hints, and from the layout.</summary>
public sealed partial class ClusterAgent
{
    // Guarded by _gate.
    private bool _isRefreshing;
    private TimeSpan _nextRefresh;
    private Epoch _hinted;

    /// <summary>Some node knows this epoch.</summary>
    private void Hint(Epoch epoch)
    {
        lock (_gate)
        {
            if (epoch <= (_projection?.Epoch ?? Epoch.None) || epoch <= _hinted) return;
            _hinted = epoch;
            _nextRefresh = TimeSpan.Zero;
        }
    }

    private void RefreshIfDue()
    {
        lock (_gate)
        {
            if (_isRefreshing || Now < _nextRefresh) return;
            _isRefreshing = true;
        }

        _ = RefreshAsync();
    }

    private async Task RefreshAsync()
    {
        Projection? latest = null;
        try
        {
            latest = Projection is { } known ? await _layout.ReadLatestAsync(known.Acceptors, _stopped) : await FindFirstAsync();
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // Asked again.
        }

        if (latest is not null) Adopt(latest);
        lock (_gate)
        {
            _isRefreshing = false;
            _nextRefresh = Now + (_projection is null ? _options.SlowInterval / 4 : _options.RefreshInterval);
        }
    }

    // Any acceptor leads to the others: each knows a projection, which names all of them.
    private async Task<Projection?> FindFirstAsync()
    {
        ImmutableArray<NodeAddress> acceptors;
        lock (_gate)
        {
            acceptors = [.. from peer in _peers.Values
                            from role in peer.Roles
                            where role.Role == NodeRole.Acceptor
                            select new NodeAddress(role.Id, peer.Endpoint)];
        }

        foreach (var acceptor in acceptors)
        {
            try
            {
                var answer = await _transport.CallAsync(acceptor, new LatestRequest(Epoch.None), _stopped);
                if (answer.Latest is { } latest) return await _layout.ReadLatestAsync(latest.Acceptors, _stopped);
            }
            catch (TransportException)
            {
                // Perhaps the next one.
            }
        }

        return null;
    }

    private void Adopt(Projection projection)
    {
        lock (_gate)
        {
            if (_projection is { } known && projection.Epoch <= known.Epoch) return;
            if (_projection is { } before) _policy.Saw(before, projection, Now);
            _projection = projection;
            _subjectsAreStale = true;
        }

        foreach (var node in (IEnumerable<NodeAddress>)[.. projection.Units, .. projection.Acceptors, projection.Sequencer]) Meet(node.Endpoint);
        AgentLog.Learnt(_logger, projection.ToString(), projection.Reason);
    }

    private void Adopt(Automation automation)
    {
        lock (_gate)
        {
            if (automation.Version <= _automation.Version) return;
            _automation = automation;
            // In order, so that the last word is the one that is kept.
            _options.AutomationChanged?.Invoke(automation);
        }

        AgentLog.Automation(_logger, automation.IsOn ? "on" : "off");
    }
}
