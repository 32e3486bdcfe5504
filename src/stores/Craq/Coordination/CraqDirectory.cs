using Tango;

namespace Craq.Coordination;

/// <summary>
/// Nodes, chains and keyspaces, as an object of the log: every node plays it (CRAQ 5.1, there ZooKeeper). Apply checks
/// every change by <see cref="ChainRules"/>, so that no proposer can break them, and no transaction is needed.
/// </summary>
/// <remarks>Renewals change no view: they are most of the records.</remarks>
#pragma warning disable TANGO008 // StoredFormat registers the formatters of the protocol's types.
[TangoObject("craq.directory")]
internal sealed partial class CraqDirectory : TangoObject, ITangoLeased
{
    public const string DefaultName = "craq.directory";

    /// <summary>Bounds of what one log holds.</summary>
    public const int MaxChains = 100_000;
    public const int MaxNodes = 10_000;
    public const int MaxKeyspaces = 10_000;

    // Rises with every change of a view.
    private long _revision;
    private ImmutableSortedDictionary<ChainId, ChainConfig> _chains = DirectoryView.Empty.Chains;
    private ImmutableSortedDictionary<NodeId, DirectoryNode> _nodes = DirectoryView.Empty.Nodes;
    private ImmutableSortedDictionary<string, ImmutableArray<ChainId>> _keyspaces = DirectoryView.Empty.Keyspaces;

    // Chains that may be served by leases; what ChainState has besides the config.
    private ImmutableSortedDictionary<ChainId, ImmutableArray<NodeId>> _leased =
        ImmutableSortedDictionary<ChainId, ImmutableArray<NodeId>>.Empty;

    // A name leads to one chain for ever: nodes that were away may still hold the old one's records (C1).
    private ImmutableSortedSet<ChainId> _dropped = ImmutableSortedSet<ChainId>.Empty;

    // Invariant: a node that is not Gone has exactly one of these, and no other node has any.
    private ImmutableSortedDictionary<long, NodeTerm> _terms = ImmutableSortedDictionary<long, NodeTerm>.Empty;

    // The greatest number given: of a lease, or of a version. None is given twice.
    private long _lastNumber;

    // Kept while the node has no lease.
    private ImmutableSortedSet<NodeId> _draining = ImmutableSortedSet<NodeId>.Empty;
    private ImmutableSortedSet<NodeId> _evicted = ImmutableSortedSet<NodeId>.Empty;

    static CraqDirectory() => StoredFormat.Register();

    IEnumerable<LeaseInfo> ITangoLeased.Leases => _terms.Select(static term =>
        new LeaseInfo(term.Key, term.Value.Version, TimeSpan.FromMilliseconds(term.Value.Milliseconds)));

    private DirectoryView View => new(_revision, _chains, _nodes, _keyspaces) { Dropped = _dropped };

    ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        ExpireAsync(lease, version, cancellationToken);

    /// <summary>Registers a node for as long as this process renews its lease.</summary>
    /// <exception cref="TangoRejectedException">The node is evicted, or the directory is full.</exception>
    public async ValueTask<(TangoLease Lease, long Revision)> RegisterAsync(
        DirectoryNode node, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        NodeGrant grant = default;
        var lease = await GrantLeaseAsync(timeToLive, async token =>
        {
            grant = await RegisterAsync(node, (long)timeToLive.TotalMilliseconds, token);
            return grant.Lease;
        }, RenewAsync, EndAsync, cancellationToken);
        return (lease!, grant.Revision);
    }

    /// <summary>A view behind that revision, as soon as this process has played one.</summary>
    public ValueTask<DirectoryView> WaitForViewAsync(long after, CancellationToken cancellationToken) =>
        WaitForViewAsync<CraqDirectory, DirectoryView>(
            static view => view.View, view => view.Revision > after, cancellationToken);

    [Accessor]
    public partial ValueTask<DirectoryView> ViewAsync(CancellationToken cancellationToken);

    [Mutator(1, MayReject = true)]
    private partial ValueTask<NodeGrant> RegisterAsync(
        DirectoryNode node, long milliseconds, CancellationToken cancellationToken);

    /// <summary>False: the lease has ended, or the node is evicted.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> RenewAsync(long lease, CancellationToken cancellationToken);

    [Mutator(3)]
    public partial ValueTask EndAsync(long lease, CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask ExpireAsync(long lease, long version, CancellationToken cancellationToken);

    /// <summary>Refuses the node's renewals, so that its lease ends: for one that reaches the log and not its
    /// neighbours (C7). It registers again once no leased chain has it.</summary>
    /// <returns>Why it is not evicted; null: it is.</returns>
    [Mutator(5)]
    public partial ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken);

    /// <summary>Whether the node's chains are wanted elsewhere.</summary>
    /// <returns>False: there is no such node.</returns>
    [Mutator(6)]
    public partial ValueTask<bool> SetDrainingAsync(
        NodeId node, bool isDraining, CancellationToken cancellationToken);

    /// <summary>Drops what is known of a node that is gone for good.</summary>
    /// <returns>Why it stays; null: it is dropped.</returns>
    [Mutator(7)]
    public partial ValueTask<string?> ForgetNodeAsync(NodeId node, CancellationToken cancellationToken);

    [Mutator(8)]
    public partial ValueTask<ChangeOutcome> CreateChainAsync(
        string name, Placement placement, ChainOptions options, CancellationToken cancellationToken);

    [Mutator(9)]
    public partial ValueTask<ChangeOutcome> TryChangeAsync(
        ChainId chain, Epoch expected, ChainChange change, CancellationToken cancellationToken);

    [Mutator(10)]
    public partial ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken);

    /// <summary>The holder of this lease serves no reads by it in this epoch of the chain.</summary>
    /// <returns>False: the chain is at another epoch, or the node has another lease by now.</returns>
    [Mutator(11)]
    public partial ValueTask<bool> ReleaseAsync(
        ChainId chain, Epoch epoch, long lease, CancellationToken cancellationToken);

    [Mutator(12)]
    public partial ValueTask<ChangeOutcome> DropChainAsync(ChainId chain, CancellationToken cancellationToken);

    /// <returns>Why there is no such keyspace; null: there is.</returns>
    [Mutator(13)]
    public partial ValueTask<string?> CreateKeyspaceAsync(
        string name, ImmutableArray<ChainId> chains, CancellationToken cancellationToken);

    /// <returns>False: there was none.</returns>
    [Mutator(14)]
    public partial ValueTask<bool> DropKeyspaceAsync(string name, CancellationToken cancellationToken);

    private DirectoryView ReadView() => View;
}

/// <param name="Lease">The number of the lease.</param>
/// <param name="Revision">The first revision of the directory in which the node has it.</param>
internal readonly record struct NodeGrant(long Lease, long Revision);

/// <summary>The lease of a node.</summary>
/// <param name="Version">A new number after each renewal.</param>
[MessagePackObject]
internal readonly record struct NodeTerm(
    [property: Key(0)] NodeId Node, [property: Key(1)] long Version, [property: Key(2)] long Milliseconds);
