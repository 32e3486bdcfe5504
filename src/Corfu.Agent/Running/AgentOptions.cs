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

    /// <summary>Whether it reconfigures on its own. It looks, answers and reports in any case.</summary>
    public bool Automatic { get; init; } = true;

    /// <summary>What it last knew about that, and a newer word of a tool or another agent overrules <see cref="Automatic"/> and this.</summary>
    public Automation? Automation { get; init; }

    /// <summary>Told of every such word, so that a restart does not forget it.</summary>
    public Action<Automation>? AutomationChanged { get; init; }

    /// <summary>The loop's step, and the time between two looks at a node that did not answer the last one.</summary>
    public TimeSpan Step { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A look that takes longer has shown nothing.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>An acceptor is looked at so often, an unknown process is asked what it is so often, and a node that lacks the newest epoch is told it so often.</summary>
    public TimeSpan SlowInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The newest projection is read at least so often. A hint that there is a newer one is followed at once.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Looks have connections of their own. Those over which a reconfiguration goes, to spares and standbys too, are used so often that they are never idle for
    /// long enough to be closed.
    /// </summary>
    public TimeSpan GreetingInterval { get; init; } = TimeSpan.FromSeconds(45);

    /// <summary>Other agents may take so long for their opinion.</summary>
    public TimeSpan OpinionTimeout { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>An agent that was not agreed with asks again after so long.</summary>
    public TimeSpan DoubtPause { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>The agents' order: the first of those alive acts at once, the next one if nothing has happened for so long, and so on.</summary>
    public TimeSpan BackOffStep { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Others asked for their opinion at once.</summary>
    public int MaxOpinions { get; init; } = 4;

    /// <summary>Processes remembered.</summary>
    public int MaxPeers { get; init; } = 1024;

    /// <summary>Nodes looked at in every <see cref="DetectorOptions.Interval"/>; with more, each is looked at less often.</summary>
    public int NodesPerInterval { get; init; } = 32;

    public DetectorOptions Detector { get; init; } = new();

    public PolicyOptions Policy { get; init; } = new();

    /// <summary>An agent that has been the first of those alive for so long does the work that is done once in a cluster.</summary>
    public TimeSpan LeadAfter { get; init; } = TimeSpan.FromSeconds(10);

    public RebuildOptions Rebuild { get; init; } = new();

    /// <summary>With more segments, the smallest are migrated onto their neighbours' chains until there are so many.</summary>
    public int MaxSegments { get; init; } = 4;

    /// <summary>Limits of migrations, which have time.</summary>
    public RebuildOptions Migration { get; init; } = new() { BatchesInFlight = 2, BytesPerSecond = 32 << 20 };

    /// <summary>Limits of the scrub; null: there is none.</summary>
    public ScrubOptions? Scrub { get; init; } = new();

    /// <summary>The first scrub begins when the agent has been the first for so long.</summary>
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
            (nameof(GreetingInterval), GreetingInterval > TimeSpan.Zero),
            (nameof(OpinionTimeout), OpinionTimeout > TimeSpan.Zero),
            (nameof(BackOffStep), BackOffStep >= TimeSpan.Zero),
            (nameof(MaxOpinions), MaxOpinions > 0),
            (nameof(MaxPeers), MaxPeers is > 0 and <= PingResponse.MaxPeers),
            (nameof(NodesPerInterval), NodesPerInterval > 0),
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
