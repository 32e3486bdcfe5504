namespace Craq.Agent;

/// <summary>The agent's port to the chains that the node learns.</summary>
internal interface ILearners
{
    /// <summary>Chains that are being learnt.</summary>
    IReadOnlyCollection<ChainId> Chains { get; }

    /// <summary>Learns these chains, and no others from now on.</summary>
    void Learn(ImmutableArray<LearnedChain> chains);
}

/// <param name="Index">The place in the chain that the node is to have.</param>
internal readonly record struct LearnedChain(ChainId Chain, int Index);
