using Tango;

namespace Craq.Coordination;

/// <summary>The agent's port to the registrations of nodes.</summary>
internal interface INodeRegistry
{
    /// <returns>Why the node is not evicted; null: it is.</returns>
    ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken);

    /// <summary>This node serves no reads of the epoch by its lease from now on (C7).</summary>
    /// <returns>False: the chain is at another epoch, or the node has no lease at the moment.</returns>
    ValueTask<bool> ReleaseAsync(ChainConfig config, CancellationToken cancellationToken);
}

/// <summary>The registration of this node: its lease in the directory, asked for again when it has ended.</summary>
internal sealed class NodeLease : INodeRegistry, IAsyncDisposable
{
    /// <summary>The share of the lease that is left for clocks of unequal rates.</summary>
    private const int Margin = 10;

    private readonly TangoChainDirectory _directory;
    private readonly DirectoryNode _self;
    private readonly TimeSpan _timeToLive;
    private readonly Lock _gate = new();
    private readonly LeaseKeeper<Term> _keeper;

    // Written under _gate: epochs in which this node serves no reads by its lease any more.
    private volatile ImmutableDictionary<ChainId, Epoch> _released = ImmutableDictionary<ChainId, Epoch>.Empty;

    /// <param name="self">As it is registered; its state is the directory's.</param>
    /// <param name="timeToLive">Without a renewal for so long the node counts as gone.</param>
    public NodeLease(TangoChainDirectory directory, DirectoryNode self, TimeSpan timeToLive, TimeProvider time,
        LoopContext loops)
    {
        (_directory, _self, _timeToLive) = (directory, self, timeToLive);
        _keeper = new LeaseKeeper<Term>(RegisterAsync, static term => term.Lease, null, time, loops);
    }

    public bool IsRegistered => _keeper.Term is { Lease.IsHeld: true };

    /// <summary>Why the node is not registered, as the last attempt heard.</summary>
    public Exception? Failure => _keeper.Failure;

    /// <summary>Whether the node may serve reads of this epoch by its lease: the lease is far from its end, and the
    /// epoch is the newest in a state of the directory that has this very lease (C7).</summary>
    public bool Proves(ChainConfig config)
    {
        if (_keeper.Term is not { } term || term.Lease.Remaining <= _timeToLive / Margin) return false;
        return LeaseRule.Covers(term.Revision, _directory.View, config)
            && !(_released.TryGetValue(config.Id, out var released) && released == config.Epoch);
    }

    public ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken) =>
        _directory.EvictAsync(node, cancellationToken);

    /// <summary>Gives up the lease for this epoch of a chain, so that the node may be removed before it ends.</summary>
    /// <returns>False: the chain is at another epoch, or the node has no lease at the moment.</returns>
    public ValueTask<bool> ReleaseAsync(ChainConfig config, CancellationToken cancellationToken)
    {
        if (_keeper.Term is not { } term) return new(false);
        // Before the record: others act on it.
        lock (_gate) _released = _released.SetItem(config.Id, config.Epoch);
        return _directory.ReleaseAsync(config.Id, config.Epoch, term.Lease.Id, cancellationToken);
    }

    /// <summary>Ends the lease.</summary>
    public ValueTask DisposeAsync() => _keeper.DisposeAsync();

    private async Task<Term> RegisterAsync(CancellationToken cancellationToken)
    {
        var (lease, revision) = await _directory.RegisterAsync(_self, _timeToLive, cancellationToken);
        return new Term(lease, revision);
    }

    /// <param name="Revision">The first revision of the directory that has the lease.</param>
    private sealed record Term(TangoLease Lease, long Revision);
}
