using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>A role that is looked at, and what the last look brought besides a verdict.</summary>
internal sealed class Subject(NodeAddress address, NodeRole role)
{
    public NodeAddress Address => address;

    public NodeRole Role => role;

    public TimeSpan NextLook { get; set; }

    public bool IsLooking { get; set; }

    /// <summary>The epoch that it serves.</summary>
    public Epoch Epoch { get; set; }

    /// <summary>A unit that was formatted and has served nobody yet (R2: only such a one may be taken in).</summary>
    public bool IsFresh { get; set; }

    /// <summary>What it says about itself when it is not well.</summary>
    public string Says { get; set; } = "";

    /// <summary>When it is next asked something only to keep the connection open that a reconfiguration would need.</summary>
    public TimeSpan NextGreeting { get; set; }

    /// <summary>When it is next told the newest projection.</summary>
    public TimeSpan NextInstall { get; set; }

    /// <summary>Another agent reaches it while we do not; until it answers us again.</summary>
    public string? ReachedBy { get; set; }

    /// <summary>Others did not agree with our verdict; not asked again before then.</summary>
    public TimeSpan DoubtedUntil { get; set; }
}
