using Corfu.Detection;

namespace Craq.Agent;

/// <summary>Intervals and limits of a node's agent.</summary>
internal sealed record CraqAgentOptions
{
    /// <summary>When samples become a verdict; also the interval of probes and decisions.</summary>
    public DetectorOptions Detector { get; init; } = new();

    /// <summary>A probe that takes longer counts as not answered.</summary>
    public TimeSpan ProbeLimit { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A node that did not answer is probed again after this time, until the verdict on it is clear: the
    /// interval of the detector is for those that answer.</summary>
    public TimeSpan Step { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Nodes that one agent probes.</summary>
    public int MaxPeers { get; init; } = 32;

    /// <summary>Agents that are asked whether they share a suspicion.</summary>
    public int MaxAsked { get; init; } = 3;

    /// <summary>A node without a lease counts as gone after so long.</summary>
    public TimeSpan UnregisteredAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A node without a lease is replaced after so long.</summary>
    public TimeSpan ReplaceAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A chain loses at most one member in this time, unless the member is certainly gone.</summary>
    public TimeSpan RemovalPause { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Removals that an agent proposes at once, unless the members are certainly gone; one more in each
    /// <see cref="RemovalRefill"/>.</summary>
    public int Removals { get; init; } = 4;

    public TimeSpan RemovalRefill { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>A member that this one does not reach and others do is taken out of a chain after so long, where the
    /// chain cannot go on with both.</summary>
    public TimeSpan CutAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>An agent takes at most one such member out of a chain in this time.</summary>
    public TimeSpan CutPause { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Each live member before this one in the chain is given this time to propose a removal.</summary>
    public TimeSpan Turn { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>An epoch that has a new member opens within this time, or goes on without it.</summary>
    public TimeSpan OpenLimit { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Chains that a node learns at once.</summary>
    public int MaxMoves { get; init; } = 2;

    /// <summary>A refused or failed proposal is made again after this time.</summary>
    public TimeSpan Retry { get; init; } = TimeSpan.FromSeconds(1);
}
