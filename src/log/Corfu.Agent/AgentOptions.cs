namespace Corfu.Agent;

/// <summary>Options of a <see cref="ClusterAgent"/>.</summary>
public sealed record AgentOptions
{
    /// <summary>The endpoint of this process.</summary>
    public required NodeEndpoint Self { get; init; }

    /// <summary>Processes to begin with; agents exchange the others.</summary>
    public ImmutableArray<NodeEndpoint> Peers { get; init; } = [];

    /// <summary>Whether it reconfigures on its own, unless <see cref="Automation"/> says otherwise.</summary>
    public bool Automatic { get; init; } = true;

    /// <summary>The last setting that a tool or another agent has sent; a newer one replaces it.</summary>
    public Automation? Automation { get; init; }

    /// <summary>Called with every newer setting, so that a restart does not forget it.</summary>
    public Action<Automation>? AutomationChanged { get; init; }

    /// <summary>The newest projection that this node knew before it was restarted. An operator needs it when every
    /// acceptor is lost.</summary>
    public Projection? Remembered { get; init; }

    /// <summary>The loop's shortest step, and the interval of probes of a node that did not answer.</summary>
    public TimeSpan Step { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A probe that takes longer counts as not answered.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Interval for probing the roles of a watched process whose agent answers, polling one process that other
    /// agents watch, identifying unknown processes and re-sending the projection.</summary>
    public TimeSpan SlowInterval { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>A process that the projection does not name is dropped when it was silent for so long.</summary>
    public TimeSpan ForgetPeerAfter { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>Interval for reading the newest projection; a hint that there is one is followed at once.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Other agents may take so long to say whether they share a suspicion.</summary>
    public TimeSpan SuspicionTimeout { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>After so long a suspicion that the others did not share is raised again, and an acceptor that did not
    /// answer when it was to take another's place is considered again.</summary>
    public TimeSpan DisagreementPause { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>The first watcher of a node that is gone acts at once, and each further one so much later.</summary>
    public TimeSpan BackOffStep { get; init; } = TimeSpan.FromMilliseconds(500);

    public DetectorOptions Detector { get; init; } = new();

    public PolicyOptions Policy { get; init; } = new();

    /// <summary>A migration begins when it has been this agent's turn for so long.</summary>
    public TimeSpan LeadAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A background job without progress for so long is passed on to the next agent.</summary>
    public TimeSpan StalledJobLimit { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>An agent that has passed a job on tries again after so long.</summary>
    public TimeSpan StalledJobPause { get; init; } = TimeSpan.FromMinutes(1);

    public RebuildOptions Rebuild { get; init; } = new();

    /// <summary>With more segments, the smallest are migrated onto their neighbours' chains.</summary>
    public int MaxSegments { get; init; } = 4;

    /// <summary>Limits of migrations, which are not urgent.</summary>
    public RebuildOptions Migration { get; init; } = new() { BatchesInFlight = 2, BytesPerSecond = 32 << 20 };

    /// <summary>Limits of the scrub; null: there is none.</summary>
    public ScrubOptions? Scrub { get; init; } = new();

    /// <summary>The first scrub begins when it has been this agent's turn for so long.</summary>
    public TimeSpan ScrubAfter { get; init; } = TimeSpan.FromMinutes(2);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate()
    {
        OptionRules.Check(
            nameof(AgentOptions),
            (nameof(Step), Step > TimeSpan.Zero && Step <= Detector.Interval),
            (nameof(ProbeTimeout), ProbeTimeout > TimeSpan.Zero),
            (nameof(SlowInterval), SlowInterval >= Step),
            (nameof(RefreshInterval), RefreshInterval >= Step),
            (nameof(ForgetPeerAfter), ForgetPeerAfter > SlowInterval),
            (nameof(SuspicionTimeout), SuspicionTimeout > TimeSpan.Zero),
            (nameof(StalledJobLimit), StalledJobLimit > TimeSpan.Zero),
            (nameof(StalledJobPause), StalledJobPause >= TimeSpan.Zero),
            (nameof(BackOffStep), BackOffStep >= TimeSpan.Zero),
            (nameof(LeadAfter), LeadAfter >= TimeSpan.Zero),
            (nameof(MaxSegments), MaxSegments > 0),
            (nameof(ScrubAfter), ScrubAfter >= TimeSpan.Zero));
        Detector.Validate();
        Policy.Validate();
        Rebuild.Validate();
        Migration.Validate();
        Scrub?.Validate();
    }
}
