namespace Craq.Coordination;

/// <summary>A chain as the directory has it.</summary>
/// <param name="MayBeLeased">A member may serve reads by its lease: the options say so, or did in an epoch since the
/// last one that was recorded open. Then no member with a lease is removed by force (C7).</param>
/// <param name="Released">Members that said that they serve no reads by lease in this epoch.</param>
internal sealed record ChainState(ChainConfig Config, bool MayBeLeased, ImmutableArray<NodeId> Released)
{
    public bool IsFree(NodeId node) => !MayBeLeased || Released.Contains(node);
}

/// <summary>The verdict of the directory's rules.</summary>
/// <param name="Refusal">Why nothing changes, for people; null: it changes.</param>
/// <param name="State">The state behind the change, or the one before it.</param>
internal readonly record struct ChainRuling(ChainState State, string? Refusal)
{
    public static ChainRuling Of(ChainState state) => new(state, null);
}
