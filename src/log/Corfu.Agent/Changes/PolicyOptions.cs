namespace Corfu.Agent;

/// <summary>Limits of the changes that an agent makes on its own.</summary>
public sealed record PolicyOptions
{
    /// <summary>Replicas of new entries; null keeps as many as the longest chain of the active segment has.</summary>
    public int? Replicas { get; init; }

    /// <summary>New entries never get fewer replicas than this, or than they have, by an agent's decision: a partition
    /// must not shrink chains to one.</summary>
    public int MinReplicas { get; init; } = 2;

    /// <summary>Units that all agents together may take out in a row; one more after each interval.</summary>
    public int UnitBurst { get; init; } = 3;

    public TimeSpan UnitRefill { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Sequencers that may be replaced in a row; one more after each interval.</summary>
    public int SequencerBurst { get; init; } = 10;

    public TimeSpan SequencerRefill { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A silent acceptor is replaced after so long: nothing waits for it while the others answer.</summary>
    public TimeSpan AcceptorSilentAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A unit slow for so long gets no new entries, but keeps the old ones. Null: it stays.</summary>
    public TimeSpan? LeaveSlowAfter { get; init; } = TimeSpan.FromSeconds(30);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(PolicyOptions),
        (nameof(Replicas), Replicas is null or > 0),
        (nameof(MinReplicas), MinReplicas > 0),
        (nameof(UnitBurst), UnitBurst > 0),
        (nameof(UnitRefill), UnitRefill > TimeSpan.Zero),
        (nameof(SequencerBurst), SequencerBurst > 0),
        (nameof(SequencerRefill), SequencerRefill > TimeSpan.Zero));
}
