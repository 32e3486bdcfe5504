namespace Craq.Coordination;

/// <summary>Proves, without asking another node, that no epoch behind the config's has opened (C7).</summary>
internal interface IEpochLease
{
    bool Proves(ChainConfig config);
}

/// <summary>The port of a node to what the log holds: nodes, chains, keyspaces, and the outcomes of transactions. In
/// production and in tests the Tango objects of <c>CraqDirectory</c>.</summary>
internal interface IChainDirectory : IEpochLease
{
    /// <summary>A node that has no lease proves nothing.</summary>
    bool IEpochLease.Proves(ChainConfig config) => false;

    /// <summary>The newest state that this node has played. Immutable; may be old.</summary>
    DirectoryView View { get; }

    /// <summary>A state as new as the call: linearizable.</summary>
    /// <exception cref="CorfuException">The log cannot be reached in time.</exception>
    ValueTask<DirectoryView> ReadAsync(CancellationToken cancellationToken);

    /// <summary>Waits for a state newer than that one.</summary>
    ValueTask<DirectoryView> WaitAsync(DirectoryView after, CancellationToken cancellationToken);

    /// <summary>Proposes a change; the directory's rules decide (C8).</summary>
    /// <returns>Whether it was recorded, or why not. Unknown outcomes are an exception.</returns>
    ValueTask<ChangeOutcome> TryChangeAsync(ChainId chain, Epoch expected, ChainChange change,
        CancellationToken cancellationToken);

    /// <summary>Records that the epoch is open (C5). Idempotent.</summary>
    ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken);

    /// <summary>Decides a transaction, or learns how it was decided: the first record counts (C15).</summary>
    ValueTask<TransactionOutcome> DecideAsync(Guid transaction, TransactionDecision wanted,
        CancellationToken cancellationToken);

    /// <summary>The decisions that are kept: linearizable.</summary>
    ValueTask<IReadOnlyDictionary<Guid, TransactionDecision>> DecisionsAsync(CancellationToken cancellationToken);

    /// <summary>All parts of the transaction have ended: its decision says nothing that their chains do not say
    /// (C15).</summary>
    ValueTask DropDecisionAsync(Guid transaction, CancellationToken cancellationToken);
}

/// <summary>A state of the directory.</summary>
/// <param name="Revision">Rises with every change.</param>
internal sealed record DirectoryView(long Revision, ImmutableSortedDictionary<ChainId, ChainConfig> Chains,
    ImmutableSortedDictionary<NodeId, DirectoryNode> Nodes,
    ImmutableSortedDictionary<string, ImmutableArray<ChainId>> Keyspaces)
{
    /// <summary>Chains that were dropped: no chain has such an id again. It only grows.</summary>
    public ImmutableSortedSet<ChainId> Dropped { get; init; } = [];

    public static DirectoryView Empty { get; } = new(0, ImmutableSortedDictionary<ChainId, ChainConfig>.Empty,
        ImmutableSortedDictionary<NodeId, DirectoryNode>.Empty,
        ImmutableSortedDictionary.Create<string, ImmutableArray<ChainId>>(StringComparer.Ordinal));
}

/// <summary>A node as it has registered itself.</summary>
internal sealed record DirectoryNode(NodeId Id, string Datacenter, NodeEndpoint Endpoint, DirectoryNodeState State);

/// <summary>Numbers are part of the format.</summary>
internal enum DirectoryNodeState
{
    /// <summary>Registered, with a lease that has not ended.</summary>
    Active = 0,

    /// <summary>An operator wants its chains elsewhere.</summary>
    Draining = 1,

    /// <summary>The node's lease has ended, by itself or after an eviction; a live node registers again.</summary>
    Gone = 2,
}

/// <summary>A change of a chain's config. The directory's rules say when it is allowed.</summary>
internal abstract record ChainChange
{
    /// <summary>Takes members out by force.</summary>
    /// <param name="Destroyed">An operator says that these members are destroyed: a chain without them may go on
    /// although no member of its base is left (C20).</param>
    internal sealed record Remove(ImmutableArray<NodeId> Nodes, bool Destroyed = false) : ChainChange;

    /// <summary>Makes a learner that has caught up a full member, at a place of the chain.</summary>
    internal sealed record Promote(NodeId Node, int Index) : ChainChange;

    internal sealed record Reorder(ImmutableArray<NodeId> Nodes) : ChainChange;

    internal sealed record SetOptions(Placement Placement, ChainOptions Options) : ChainChange;

    /// <summary>The same members in a new epoch: the head has no versions left.</summary>
    internal sealed record Renew : ChainChange;
}

/// <param name="Refusal">Why it was not recorded, for people; null: it was.</param>
/// <param name="Config">The newest config after the call; null: there is no such chain.</param>
internal sealed record ChangeOutcome(string? Refusal, ChainConfig? Config)
{
    public bool IsRecorded => Refusal is null;
}

/// <param name="Parts">All parts of the transaction: the log's entry goes when each of them has ended.</param>
internal sealed record TransactionDecision(TransactionOutcome Outcome, ImmutableArray<PartId> Parts);

/// <summary>Numbers are part of the format.</summary>
internal enum TransactionOutcome
{
    None = 0,
    Committed = 1,
    Aborted = 2,
}
