namespace Corfu.Agent;

/// <summary>Limits of the changes that an agent makes on its own.</summary>
public sealed record PolicyOptions
{
    internal static readonly OptionRules<PolicyOptions> Rules = new OptionRules<PolicyOptions>(new())
        .AtLeast(o => o.Replicas, 1)
        .AtLeast(o => o.MinReplicas, 1)
        .AtLeast(o => o.UnitBurst, 1)
        .Above(o => o.UnitRefill, TimeSpan.Zero)
        .AtLeast(o => o.SequencerBurst, 1)
        .Above(o => o.SequencerRefill, TimeSpan.Zero);

    /// <summary>Replicas of new entries; null keeps as many as the longest chain of the active segment has. Default
    /// none.</summary>
    public int? Replicas { get; init; }

    /// <summary>New entries never get fewer replicas than this, or than they have, by an agent's decision: a partition
    /// must not shrink chains to one. Default 2.</summary>
    public int MinReplicas { get; init; } = 2;

    /// <summary>Units that all agents together may take out in a row; one more after each interval. Default
    /// 3.</summary>
    public int UnitBurst { get; init; } = 3;

    /// <summary>The interval after which one more unit may be taken out. Default 60 s.</summary>
    public TimeSpan UnitRefill { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Sequencers that may be replaced in a row; one more after each interval. Default 10.</summary>
    public int SequencerBurst { get; init; } = 10;

    /// <summary>The interval after which one more sequencer may be replaced. Default 5 s.</summary>
    public TimeSpan SequencerRefill { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A silent acceptor is replaced after so long: nothing waits for it while the others answer. Default 10
    /// s.</summary>
    public TimeSpan AcceptorSilentAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A unit slow for so long gets no new entries, but keeps the old ones. Null: it stays. Default 30
    /// s.</summary>
    public TimeSpan? LeaveSlowAfter { get; init; } = TimeSpan.FromSeconds(30);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
