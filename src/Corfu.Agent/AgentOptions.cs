using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>One agent.</summary>
public sealed record AgentOptions
{
    /// <summary>Where this process listens.</summary>
    public required NodeEndpoint Self { get; init; }

    /// <summary>Processes to begin with; agents tell each other about all.</summary>
    public ImmutableArray<NodeEndpoint> Peers { get; init; } = [];

    /// <summary>Whether it reconfigures on its own. It probes, answers and reports in any case.</summary>
    public bool Automatic { get; init; } = true;

    /// <summary>What it last knew about that; a newer word of a tool or another agent overrules <see cref="Automatic"/>
    /// and this.</summary>
    public Automation? Automation { get; init; }

    /// <summary>Told of every such word, so that a restart does not forget it.</summary>
    public Action<Automation>? AutomationChanged { get; init; }

    /// <summary>The newest projection that this node knew before it was restarted: all that is left of the layout where
    /// every acceptor is lost.</summary>
    public Projection? Remembered { get; init; }

    /// <summary>The loop's shortest step, and the time between two probes of a node that did not answer the last
    /// one.</summary>
    public TimeSpan Step { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A probe that takes longer has shown nothing.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>
    /// Interval for probing the roles of a watched process whose agent answers, polling one process that other agents
    /// watch, identifying unknown processes and re-sending the projection.
    /// </summary>
    public TimeSpan SlowInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Agents that watch each process: enough for a second observer when one of them is gone too.</summary>
    public int Watchers { get; init; } = 3;

    /// <summary>A process that the projection does not name is dropped when nothing was heard of it for so
    /// long.</summary>
    public TimeSpan ForgetPeerAfter { get; init; } = TimeSpan.FromMinutes(30);

    /// <summary>Interval for reading the newest projection. A hint that there is a newer one is followed at
    /// once.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Other agents may take so long to say whether they share a suspicion.</summary>
    public TimeSpan SuspicionTimeout { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>A suspicion that the others did not share is raised again after so long.</summary>
    public TimeSpan DisagreementPause { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>The first watcher of a node that is gone acts at once, the next one if nothing has happened for so
    /// long, and so on.</summary>
    public TimeSpan BackOffStep { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Other agents asked at once whether they share a suspicion.</summary>
    public int MaxSuspicionsAsked { get; init; } = 3;

    /// <summary>Processes remembered.</summary>
    public int MaxPeers { get; init; } = 1024;

    public DetectorOptions Detector { get; init; } = new();

    public PolicyOptions Policy { get; init; } = new();

    /// <summary>A migration begins when it has been this agent's turn for so long.</summary>
    public TimeSpan LeadAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A background job without progress for so long is passed on to the next agent.</summary>
    public TimeSpan StalledJobLimit { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>An agent that has passed a job on tries again after so long.</summary>
    public TimeSpan StalledJobPause { get; init; } = TimeSpan.FromMinutes(1);

    public RebuildOptions Rebuild { get; init; } = new();

    /// <summary>With more segments, the smallest are migrated onto their neighbours' chains until there are so
    /// many.</summary>
    public int MaxSegments { get; init; } = 4;

    /// <summary>Limits of migrations, which have time.</summary>
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
            (nameof(Watchers), Watchers > 0),
            (nameof(ForgetPeerAfter), ForgetPeerAfter > SlowInterval),
            (nameof(SuspicionTimeout), SuspicionTimeout > TimeSpan.Zero),
            (nameof(MaxSuspicionsAsked), MaxSuspicionsAsked > 0),
            (nameof(StalledJobLimit), StalledJobLimit > TimeSpan.Zero),
            (nameof(StalledJobPause), StalledJobPause >= TimeSpan.Zero),
            (nameof(BackOffStep), BackOffStep >= TimeSpan.Zero),
            (nameof(MaxPeers), MaxPeers is > 0 and <= PingResponse.MaxPeers),
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
