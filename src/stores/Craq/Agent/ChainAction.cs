namespace Craq.Agent;

/// <summary>A step that an agent takes for a chain.</summary>
internal abstract record ChainAction(ChainConfig Config)
{
    /// <summary>Takes out a member that is gone.</summary>
    /// <param name="IsCertain">No second observer is needed: the node or its machine says so, or the log.</param>
    internal sealed record RemoveGone(ChainConfig Config, NodeId Node, bool IsCertain) : ChainAction(Config);

    /// <summary>Refuses the renewals of a member that is silent and may serve reads by its lease (C7).</summary>
    internal sealed record Evict(ChainConfig Config, NodeId Node, bool IsCertain) : ChainAction(Config);

    /// <summary>Takes out the newest member, with which the epoch does not open.</summary>
    internal sealed record Withdraw(ChainConfig Config, NodeId Node) : ChainAction(Config);

    /// <summary>This node leaves a chain: others are wished for, and it has them; or the node is its newest member, and
    /// the epoch does not open.</summary>
    internal sealed record Leave(ChainConfig Config) : ChainAction(Config);
}

/// <summary>A chain that a node is wished for and no member of.</summary>
/// <param name="IsRepair">The chain has fewer members than its placement wishes: it goes before all moves.</param>
internal readonly record struct WantedChain(ChainConfig Config, bool IsRepair);
