namespace Corfu.Agent;

/// <summary>Options of a <see cref="ClusterAgent"/>.</summary>
public sealed record AgentOptions
{
    internal static readonly OptionRules<AgentOptions> Rules = new OptionRules<AgentOptions>(new() { Self = default })
        .Must(o => o.Step, o => o.Step > TimeSpan.Zero && o.Step <= o.Detector.Interval,
            "above 0 and at most Detector.Interval")
        .Above(o => o.ProbeTimeout, TimeSpan.Zero)
        .AtLeast(o => o.SlowInterval, o => o.Step)
        .AtLeast(o => o.RefreshInterval, o => o.Step)
        .Above(o => o.ForgetPeerAfter, o => o.SlowInterval)
        .Above(o => o.SuspicionTimeout, TimeSpan.Zero)
        .Above(o => o.SuccessorTimeout, TimeSpan.Zero)
        .Above(o => o.StalledJobLimit, TimeSpan.Zero)
        .AtLeast(o => o.StalledJobPause, TimeSpan.Zero)
        .AtLeast(o => o.BackOffStep, TimeSpan.Zero)
        .AtLeast(o => o.LeadAfter, TimeSpan.Zero)
        .AtLeast(o => o.MaxSegments, 1)
        .AtLeast(o => o.ScrubAfter, TimeSpan.Zero)
        .Include(o => o.Detector, DetectorOptions.Rules)
        .Include(o => o.Policy, PolicyOptions.Rules)
        .Include(o => o.Rebuild, RebuildOptions.Rules)
        .Include(o => o.Migration, RebuildOptions.Rules)
        .Include(o => o.Scrub, ScrubOptions.Rules);

    /// <summary>The endpoint of this process.</summary>
    public required NodeEndpoint Self { get; init; }

    /// <summary>Processes to begin with; agents exchange the others.</summary>
    public ImmutableArray<NodeEndpoint> Peers { get; init; } = [];

    /// <summary>Whether it reconfigures on its own, unless <see cref="Automation"/> says otherwise. Default
    /// true.</summary>
    public bool Automatic { get; init; } = true;

    /// <summary>The last setting that a tool or another agent has sent; a newer one replaces it. Default
    /// none.</summary>
    public Automation? Automation { get; init; }

    /// <summary>Called with every newer setting, so that a restart does not forget it. Default none.</summary>
    public Action<Automation>? AutomationChanged { get; init; }

    /// <summary>Called with every newer projection that the agent goes on with; must not throw. Default none.</summary>
    public Action<Projection>? ProjectionChanged { get; init; }

    /// <summary>Describes the process for tools; must not throw. Default none: the request is answered with
    /// <see cref="Status.Unsupported"/>.</summary>
    public Func<Task<ProcessReport>>? Process { get; init; }

    /// <summary>Certificates that were denied before this node was restarted. Default none.</summary>
    public ImmutableArray<DeniedCertificate> Denied { get; init; } = [];

    /// <summary>Called with the whole list when certificates were denied; false: it could not be kept. Default
    /// none.</summary>
    public Func<ImmutableArray<DeniedCertificate>, bool>? DeniedChanged { get; init; }

    /// <summary>The newest projection that this node knew before it was restarted. An operator needs it when every
    /// acceptor is lost. Default none.</summary>
    public Projection? Remembered { get; init; }

    /// <summary>The loop's shortest step, and the interval of probes of a node that did not answer. Default 50
    /// ms.</summary>
    public TimeSpan Step { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A probe that takes longer counts as not answered. Default 500 ms.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Interval for probing the roles of a watched process whose agent answers, polling one process that other
    /// agents watch, identifying unknown processes and re-sending the projection. Default 2 s.</summary>
    public TimeSpan SlowInterval { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>A process that the projection does not name is dropped when it was silent for so long. Default 30
    /// min.</summary>
    public TimeSpan ForgetPeerAfter { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>Interval for reading the newest projection; a hint that there is one is followed at once. Default 5
    /// s.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>An epoch that a unit refuses as sealed gets a successor with the same membership when none has followed
    /// for so long. Default 1 s.</summary>
    public TimeSpan SuccessorTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Other agents may take so long to say whether they share a suspicion. Default 300 ms.</summary>
    public TimeSpan SuspicionTimeout { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>After so long a suspicion that the others did not share is raised again, and an acceptor that did not
    /// answer when it was to take another's place is considered again. Default 500 ms.</summary>
    public TimeSpan DisagreementPause { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>The first watcher of a node that is gone acts at once, and each further one so much later. Default 500
    /// ms.</summary>
    public TimeSpan BackOffStep { get; init; } = TimeSpan.FromMilliseconds(500);

    public DetectorOptions Detector { get; init; } = new();

    public PolicyOptions Policy { get; init; } = new();

    /// <summary>A migration begins when it has been this agent's turn for so long. Default 10 s.</summary>
    public TimeSpan LeadAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A background job without progress for so long is passed on to the next agent. Default 30 s.</summary>
    public TimeSpan StalledJobLimit { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>An agent that has passed a job on tries again after so long. Default 1 min.</summary>
    public TimeSpan StalledJobPause { get; init; } = TimeSpan.FromMinutes(1);

    public RebuildOptions Rebuild { get; init; } = new();

    /// <summary>With more segments, the smallest are migrated onto their neighbours' chains. Default 4.</summary>
    public int MaxSegments { get; init; } = 4;

    /// <summary>Limits of migrations, which are not urgent. Default 2 batches in flight and 32 MiB a second.</summary>
    public RebuildOptions Migration { get; init; } = new() { BatchesInFlight = 2, BytesPerSecond = 32 << 20 };

    /// <summary>Limits of the scrub; null: there is none.</summary>
    public ScrubOptions? Scrub { get; init; } = new();

    /// <summary>The first scrub begins when it has been this agent's turn for so long. Default 2 min.</summary>
    public TimeSpan ScrubAfter { get; init; } = TimeSpan.FromMinutes(2);

    internal MonitorOptions Monitor => new(Self, Step, ProbeTimeout, SlowInterval, ForgetPeerAfter, SuspicionTimeout,
        DisagreementPause, Detector);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
