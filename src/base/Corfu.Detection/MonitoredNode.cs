namespace Corfu.Detection;

/// <summary>A role of a process, and what its last answers said besides that it is alive.</summary>
public sealed class MonitoredNode(NodeAddress address, IWatchedRole role)
{
    public NodeAddress Address => address;

    public NodeRole Role => role.Role;

    internal IWatchedRole Kind => role;

    internal bool IsProbing { get; set; }

    internal TimeSpan NextProbe { get; set; }

    /// <summary>Whether it answered the last probe.</summary>
    internal bool Answers { get; private set; }

    /// <summary>Whether it has ever answered: until then it may be starting.</summary>
    internal bool HasAnswered { get; private set; }

    /// <summary>The epoch that it serves.</summary>
    public Epoch Epoch { get; set; }

    /// <summary>Freshly formatted: the node has served no epoch. Only such a node may join with its data.</summary>
    public bool IsFresh { get; set; }

    /// <summary>The node's own report when it is not well.</summary>
    public string Says { get; set; } = "";

    /// <summary>The time from which on it is told the newest epoch if it is behind.</summary>
    public TimeSpan NextInstall { get; set; }

    /// <summary>Another agent reaches it and this one does not; false again when it answers.</summary>
    internal bool IsReachedByOthers { get; set; }

    /// <summary>Until then the policy ignores this agent's verdict on the node. Set when other agents did not share a
    /// suspicion, or when the node did not answer as a replacement.</summary>
    internal TimeSpan PausedUntil { get; set; }

    /// <summary>The health that was last reported.</summary>
    internal NodeHealth Reported { get; set; }

    internal void Record(ProbeSample sample)
    {
        if (sample.Outcome != ProbeOutcome.None) Answers = sample.IsAnswer;
        if (!sample.IsAnswer) return;
        HasAnswered = true;
        IsReachedByOthers = false;
    }
}
