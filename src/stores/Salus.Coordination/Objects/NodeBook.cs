using Salus.Coordination.Formats;
using Tango;

namespace Salus.Coordination;

/// <summary>The stores of a cluster and the processes that serve them, each for as long as it renews its lease. An
/// object of the log that every node plays.</summary>
/// <remarks>Renewals change no view: they are most of the records.</remarks>
#pragma warning disable TANGO008 // StoredFormat registers the formatters.
[TangoObject("salus.nodes")]
public sealed partial class NodeBook : TangoObject, ITangoLeased
{
    public const string DefaultName = "salus.nodes";

    // Rises with every change of _stores, and no other one.
    private long _revision;
    private ImmutableSortedDictionary<Guid, BookedNode> _stores = NodeBookView.Empty.Stores;

    // Invariant: a store that is not Gone has exactly one of these, and no other store has any.
    private ImmutableSortedDictionary<long, NodeTerm> _terms = ImmutableSortedDictionary<long, NodeTerm>.Empty;

    // The greatest number given, of a lease or of a version. None is given twice.
    private long _lastNumber;

    static NodeBook() => StoredFormat.Register();

    IEnumerable<LeaseInfo> ITangoLeased.Leases => _terms.Select(static term =>
        new LeaseInfo(term.Key, term.Value.Version, TimeSpan.FromMilliseconds(term.Value.Milliseconds)));

    ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        ExpireAsync(lease, version, cancellationToken);

    /// <summary>Registers a process for as long as it renews its lease. The entry of an earlier process of the store
    /// goes at once: the caller has the store's folder for itself, which proves that the other is gone.</summary>
    /// <param name="node">Each call has a new incarnation.</param>
    /// <exception cref="TangoRejectedException">The book is full, the incarnation was used, or another process of the
    /// store came first.</exception>
    public async ValueTask<TangoLease> RegisterAsync(
        BookedNode node, TimeSpan timeToLive, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        // Known before the call: a record that reaches the log late must not displace a later process (S7).
        var known = (await ViewAsync(cancellationToken)).Find(node.Store)?.Version ?? 0;
        var lease = await GrantLeaseAsync(timeToLive,
            async token => await RegisterAsync(
                node with { Version = known }, (long)timeToLive.TotalMilliseconds, token),
            RenewAsync, EndAsync, cancellationToken);
        return lease!;
    }

    /// <summary>A view behind that revision, as soon as this process has played one.</summary>
    public ValueTask<NodeBookView> WaitForViewAsync(long after, CancellationToken cancellationToken = default) =>
        WaitForViewAsync<NodeBook, NodeBookView>(
            static view => view.ReadView(), view => view.Revision > after, cancellationToken);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<NodeBookView> ViewAsync(CancellationToken cancellationToken = default);

    [Mutator(1, MayReject = true)]
    private partial ValueTask<long> RegisterAsync(
        BookedNode node, long milliseconds, CancellationToken cancellationToken);

    /// <summary>False: the lease has ended, or the node is expelled.</summary>
    [Mutator(2)]
    private partial ValueTask<bool> RenewAsync(long lease, CancellationToken cancellationToken);

    [Mutator(3)]
    private partial ValueTask EndAsync(long lease, CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask ExpireAsync(long lease, long version, CancellationToken cancellationToken);

    /// <summary>Refuses the renewals of an incarnation, so that its lease ends: for a member that neither seals nor
    /// dies.</summary>
    /// <returns>False: the incarnation is gone, or another has the store.</returns>
    [Mutator(5)]
    public partial ValueTask<bool> ExpelAsync(
        Guid store, Guid incarnation, CancellationToken cancellationToken = default);

    /// <summary>Tells how much the store takes.</summary>
    /// <returns>False: the incarnation is gone.</returns>
    [Mutator(6)]
    public partial ValueTask<bool> SetFreeAsync(
        Guid store, Guid incarnation, long free, CancellationToken cancellationToken = default);

    /// <summary>Drops a store that never returns.</summary>
    /// <returns>Why it stays; null: it is dropped.</returns>
    [Mutator(7)]
    public partial ValueTask<string?> ForgetAsync(Guid store, CancellationToken cancellationToken = default);

    private NodeBookView ReadView() => new(_revision, _stores);

    private long ApplyRegister(BookedNode node, long milliseconds)
    {
        var known = _stores.GetValueOrDefault(node.Store.Value);
        if (known is null && _stores.Count >= CoordinationLimits.MaxStores)
        {
            throw Reject($"the book has {CoordinationLimits.MaxStores} stores, its most: forget those that are gone "
                + "for good");
        }

        if (node.Incarnation.IsNone || node.Store.Value == Guid.Empty)
            throw Reject("a node has a store and an incarnation");
        if (node.Free < 0) throw Reject("the free space of a node is not negative");
        if (node.Domain.Length > 0 && !CoordinationLimits.IsName(node.Domain))
            throw Reject($"a domain's name has at most {CoordinationLimits.MaxName} bytes");
        if ((known?.Version ?? 0) != node.Version)
            throw Reject($"another process of store {node.Store} has registered meanwhile: look at the book again");
        // Members may have counted the incarnation as gone (S8).
        if (known?.Incarnation == node.Incarnation && !Planted.Is("restart-keeps-generation"))
            throw Reject($"incarnation {node.Incarnation} has been registered: take a new one");
        EndTermOf(node.Store.Value);
        var lease = ++_lastNumber;
        _terms = _terms.Add(lease, new NodeTerm(node.Store.Value, lease, milliseconds));
        Set(node with { State = BookedState.Live, Version = lease });
        return lease;
    }

    private bool ApplyRenew(long lease)
    {
        if (!_terms.TryGetValue(lease, out var term) || _stores[term.Store].State == BookedState.Expelled) return false;
        _terms = _terms.SetItem(lease, term with { Version = ++_lastNumber });
        return true;
    }

    private void ApplyEnd(long lease) => End(lease);

    private void ApplyExpire(long lease, long version)
    {
        if (_terms.TryGetValue(lease, out var term) && term.Version == version) End(lease);
    }

    private bool ApplyExpel(Guid store, Guid incarnation)
    {
        if (Holding(store, incarnation) is not { } node) return false;
        if (node.State == BookedState.Live) Set(node with { State = BookedState.Expelled });
        return true;
    }

    private bool ApplySetFree(Guid store, Guid incarnation, long free)
    {
        if (Holding(store, incarnation) is not { } node) return false;
        if (node.Free != free) Set(node with { Free = Math.Max(0, free) });
        return true;
    }

    private string? ApplyForget(Guid store)
    {
        if (!_stores.TryGetValue(store, out var node)) return null;
        if (node.State != BookedState.Gone) return "a process serves the store: stop it first";
        _revision++;
        _stores = _stores.Remove(store);
        return null;
    }

    private BookedNode? Holding(Guid store, Guid incarnation) =>
        _stores.TryGetValue(store, out var node) && node.Incarnation.Value == incarnation
        && node.State != BookedState.Gone ? node : null;

    private void End(long lease)
    {
        if (!_terms.TryGetValue(lease, out var term)) return;
        _terms = _terms.Remove(lease);
        Set(_stores[term.Store] with { State = BookedState.Gone });
    }

    private void EndTermOf(Guid store)
    {
        foreach (var (lease, term) in _terms)
        {
            if (term.Store != store) continue;
            _terms = _terms.Remove(lease);
            return;
        }
    }

    private void Set(BookedNode node)
    {
        _revision++;
        _stores = _stores.SetItem(node.Store.Value, node);
    }
}

/// <summary>The lease of a process.</summary>
/// <param name="Version">A new number after each renewal.</param>
[MessagePackObject]
internal readonly record struct NodeTerm(
    [property: Key(0)] Guid Store, [property: Key(1)] long Version, [property: Key(2)] long Milliseconds);
