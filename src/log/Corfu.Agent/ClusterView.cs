using Corfu.Client.Layout;

namespace Corfu.Agent;

/// <summary>The newest projection, and whether agents act on their own. Both only get newer.</summary>
internal sealed class ClusterView(
    Lock gate, AgentOptions options, LayoutClient layout, AgentClock clock, ILogger logger)
{
    private const long MaxVersionsAhead = 1L << 32;

    // Guarded by gate.
    private Projection? _projection;
    private Automation _automation = options.Automation ?? new Automation(0, options.Automatic);
    private Epoch _hinted;
    private TimeSpan _nextRefresh;
    private bool _isRefreshing;

    /// <summary>Called under the gate with the projection before and a newer one. Set before the agent runs.</summary>
    public Action<Projection?, Projection> Changed { get; set; } = static (_, _) => { };

    public Projection? Projection
    {
        get
        {
            lock (gate) return _projection;
        }
    }

    public Epoch Epoch => Projection?.Epoch ?? Epoch.None;

    public Automation Automation
    {
        get
        {
            lock (gate) return _automation;
        }
    }

    /// <summary>A node knows this epoch: if it is newer, the layout is read at the next step.</summary>
    public void Hint(Epoch epoch)
    {
        lock (gate)
        {
            if (epoch <= Epoch || epoch == _hinted) return;
            _hinted = epoch;
            _nextRefresh = TimeSpan.Zero;
        }
    }

    public void Adopt(Projection projection)
    {
        lock (gate)
        {
            if (_projection is { } known && projection.Epoch <= known.Epoch) return;
            var before = _projection;
            _projection = projection;
            Changed(before, projection);
        }

        AgentLog.Learnt(logger, projection.ToString(), projection.Reason);
    }

    /// <summary>Each change is one version higher. The highest version of all would leave none for the next change, so
    /// an agent goes a part of the way to it.</summary>
    public void Adopt(Automation automation)
    {
        lock (gate)
        {
            if (automation.Version <= _automation.Version) return;
            var version = Math.Min(automation.Version, _automation.Version + MaxVersionsAhead);
            _automation = automation = automation with { Version = version };
            // Under the gate: what is kept last is the newest.
            options.AutomationChanged?.Invoke(automation);
        }

        AgentLog.Automation(logger, automation.IsOn ? "on" : "off");
    }

    /// <param name="acceptors">Acceptors that answer, whether the projection names them or not.</param>
    public void RefreshIfDue(Func<ImmutableArray<NodeAddress>> acceptors, CancellationToken cancellationToken)
    {
        lock (gate)
        {
            if (_isRefreshing || clock.Now < _nextRefresh) return;
            _isRefreshing = true;
        }

        _ = RefreshAsync(acceptors(), cancellationToken).ReportAsync(logger);
    }

    internal async Task RefreshAsync(ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken)
    {
        try
        {
            if (await ReadLatestAsync(acceptors, cancellationToken) is { } latest) Adopt(latest);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // Read again at the next refresh.
        }
        finally
        {
            lock (gate)
            {
                _isRefreshing = false;
                _nextRefresh = clock.Now + (_projection is null ? options.SlowInterval / 4 : options.RefreshInterval);
            }
        }
    }

    // Any acceptor leads to the others: each knows a projection, which names all of them. All that the known projection
    // names may have been replaced while this agent was cut off.
    private async Task<Projection?> ReadLatestAsync(ImmutableArray<NodeAddress> acceptors,
        CancellationToken cancellationToken)
    {
        try
        {
            if (Projection is { } known) return await layout.ReadLatestAsync(known.Acceptors, cancellationToken);
        }
        catch (LayoutUnavailableException) when (!acceptors.IsEmpty)
        {
            // The others may lead on.
        }

        return acceptors.IsEmpty ? null : await layout.FindLatestAsync(acceptors, cancellationToken);
    }
}
