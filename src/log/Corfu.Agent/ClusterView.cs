using Corfu.Client.Layout;

namespace Corfu.Agent;

/// <summary>The newest projection, and whether agents act on their own. Both only get newer.</summary>
internal sealed class ClusterView(AgentOptions options, LayoutClient layout, AgentClock clock, ILogger logger)
    : IMembership
{
    private const long MaxVersionsAhead = 1L << 32;

    private volatile Projection? _projection;
    private Epoch _hinted;
    private TimeSpan _nextRefresh;
    private bool _isRefreshing;

    /// <summary>Any thread.</summary>
    public Projection? Projection => _projection;

    public Epoch Epoch => _projection?.Epoch ?? Epoch.None;

    public ImmutableArray<NamedNode> Named { get; private set; } = [];

    /// <summary>The epoch that brought the membership in force, as far as this agent has seen. An epoch that only
    /// renews a sealed one (R14) brings none.</summary>
    public Epoch MembersSince { get; private set; }

    public Automation Automation { get; private set; } = options.Automation ?? new Automation(0, options.Automatic);

    /// <summary>When a majority of acceptors last told the newest projection; null: never.</summary>
    public DateTimeOffset? Confirmed { get; private set; }

    public bool IsRefreshDue => !_isRefreshing && clock.Now >= _nextRefresh;

    /// <summary>A node knows this epoch: if it is newer, the layout is read at the next step.</summary>
    public void Hint(Epoch epoch)
    {
        if (epoch <= Epoch || epoch == _hinted) return;
        _hinted = epoch;
        _nextRefresh = TimeSpan.Zero;
    }

    /// <summary>The layout is read at the next step.</summary>
    public void ReadSoon() => _nextRefresh = TimeSpan.Zero;

    public void Adopt(Projection projection)
    {
        if (projection.Epoch <= Epoch) return;
        if (_projection is not { } before || !HaveSameMembers(before, projection)) MembersSince = projection.Epoch;
        _projection = projection;
        Named =
        [
            .. projection.Units.Select(unit => new NamedNode(unit, NodeRole.Unit)),
            .. projection.Acceptors.Select(acceptor => new NamedNode(acceptor, NodeRole.Acceptor)),
            new NamedNode(projection.Sequencer, NodeRole.Sequencer),
        ];
        AgentLog.Learnt(logger, projection.ToString(), projection.Reason);
        options.ProjectionChanged?.Invoke(projection);
    }

    /// <summary>Each change is one version higher. The highest version of all would leave none for the next change, so
    /// an agent goes a part of the way to it.</summary>
    public void Adopt(Automation automation)
    {
        if (automation.Version <= Automation.Version) return;
        var version = Math.Min(automation.Version, Automation.Version + MaxVersionsAhead);
        Automation = automation with { Version = version };
        options.AutomationChanged?.Invoke(Automation);
        AgentLog.Automation(logger, automation.IsOn ? "on" : "off");
    }

    /// <param name="acceptors">Acceptors that answer, whether the projection names them or not.</param>
    public async Task RefreshAsync(ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken)
    {
        _isRefreshing = true;
        try
        {
            if (await ReadLatestAsync(acceptors, cancellationToken) is { } latest)
            {
                Adopt(latest);
                Confirmed = clock.Time.GetUtcNow();
            }
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // Read again at the next refresh.
        }
        finally
        {
            _isRefreshing = false;
            _nextRefresh = clock.Now + (_projection is null ? options.SlowInterval / 4 : options.RefreshInterval);
        }
    }

    private static bool HaveSameMembers(Projection one, Projection other) =>
        (one.Sequencer, one.MirrorOf) == (other.Sequencer, other.MirrorOf)
        && one.Segments.AsSpan().SequenceEqual(other.Segments.AsSpan())
        && one.Units.AsSpan().SequenceEqual(other.Units.AsSpan())
        && one.Acceptors.AsSpan().SequenceEqual(other.Acceptors.AsSpan());

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
