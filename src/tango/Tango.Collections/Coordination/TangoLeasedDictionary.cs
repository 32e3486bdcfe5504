using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated map whose entries end by themselves: those of a lease when its owner dies or disposes it, such as what
/// a process says of itself while it lives; others when they are not set again within their time to live.
/// </summary>
/// <remarks>
/// An entry is not gone at once when its time is over: a process that has the object open must have seen its silence.
/// Operations on one key conflict, in transactions, with operations on the same key, with those on the whole map and
/// with ends of leases. Renewals conflict with nothing.
/// </remarks>
/// <typeparam name="TKey">As of <see cref="TangoDictionary{TKey, TValue}"/>.</typeparam>
/// <typeparam name="TValue">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.leased-dictionary")]
public sealed partial class TangoLeasedDictionary<TKey, TValue> : TangoObject, ITangoLeased
    where TKey : notnull
{
    // Invariant: each entry's key is among those of its lease, which exists, and of no other.
    private ImmutableDictionary<TKey, LeasedEntry<TValue>> _items =
        ImmutableDictionary<TKey, LeasedEntry<TValue>>.Empty.WithComparers(
            null, AlwaysDifferent<LeasedEntry<TValue>>.Instance);

    private LeaseTable<LeasedKeys<TKey>> _leases =
        new(ImmutableSortedDictionary<long, Leased<LeasedKeys<TKey>>>.Empty, 0);

    IEnumerable<LeaseInfo> ITangoLeased.Leases => _leases.Leases;

    ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        ExpireAsync(lease, version, cancellationToken);

    /// <summary>Grants a lease that this process keeps, for entries of <see cref="SetAsync(TKey, TValue, TangoLease,
    /// CancellationToken)"/>.</summary>
    /// <param name="timeToLive">After so long without a sign of life from this process, the entries end. Between 10
    /// milliseconds and a day.</param>
    /// <exception cref="TangoTransactionException">The method is called within a transaction.</exception>
    public async ValueTask<TangoLease> GrantAsync(
        TimeSpan timeToLive, CancellationToken cancellationToken = default) =>
        (await GrantLeaseAsync(
            timeToLive, async token => await GrantAsync(default, (long)timeToLive.TotalMilliseconds, token),
            (lease, token) => RenewAsync(new LeaseRenewal(lease), token), EndAsync, cancellationToken))!;

    /// <summary>Adds or replaces an entry that ends with the lease.</summary>
    /// <param name="lease">A lease of this object.</param>
    /// <exception cref="ArgumentException">The lease is of another object.</exception>
    /// <exception cref="TangoRejectedException">The lease has ended.</exception>
    public async ValueTask SetAsync(
        TKey key, TValue value, TangoLease lease, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(lease);
        if (!lease.IsOf(this))
            throw new ArgumentException($"The lease is of '{lease.ObjectName}', not of this object", nameof(lease));
        await SetAsync(key, value, lease.Id, cancellationToken);
    }

    /// <summary>As the other overload, for an owner that keeps the lease's number.</summary>
    /// <exception cref="TangoRejectedException">The lease has ended.</exception>
    public async ValueTask SetAsync(
        TKey key, TValue value, long lease, CancellationToken cancellationToken = default)
    {
        try
        {
            await SetOfLeaseAsync(key, value, lease, cancellationToken);
        }
        catch (TangoRejectedException) when (IsInTransaction)
        {
            // The key does not tell that the lease was granted since. The whole map does: the transaction aborts.
            await CountAsync(cancellationToken);
            throw;
        }
    }

    /// <summary>Renews a lease by its number, for its time to live: for an owner that keeps the number and not the
    /// <see cref="TangoLease"/>, which it let go or which was of another process.</summary>
    /// <returns>False: the lease has ended.</returns>
    public ValueTask<bool> RenewAsync(long lease, CancellationToken cancellationToken = default) =>
        RenewAsync(new LeaseRenewal(lease), cancellationToken);

    /// <summary>Adds or replaces an entry that ends unless it is set again within its time to live.</summary>
    /// <param name="timeToLive">At least a millisecond.</param>
    public ValueTask SetAsync(
        TKey key, TValue value, TimeSpan timeToLive, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(timeToLive, TimeSpan.FromMilliseconds(1));
        return SetForAsync(key, value, (long)timeToLive.TotalMilliseconds, cancellationToken);
    }

    /// <summary>True if the key was there. Its lease goes on.</summary>
    [Mutator(1)]
    public partial ValueTask<bool> RemoveAsync([VersionKey] TKey key, CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<Lookup<TValue>> TryGetAsync([VersionKey] TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable; in a transaction it conflicts with every write to the map.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable: all entries at one position. In a transaction it conflicts with every write to the map.
    /// </summary>
    public async ValueTask<ImmutableDictionary<TKey, TValue>> SnapshotAsync(
        CancellationToken cancellationToken = default) =>
        (await ItemsAsync(cancellationToken)).ToImmutableDictionary(
            static item => item.Key, static item => item.Value.Value);

    [Mutator(2, MayReject = true)]
    private partial ValueTask SetOfLeaseAsync(
        [VersionKey] TKey key, TValue value, long lease, CancellationToken cancellationToken);

    [Mutator(3)]
    private partial ValueTask SetForAsync(
        [VersionKey] TKey key, TValue value, long milliseconds, CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask<long> GrantAsync(
        [VersionKey] LeaseGrants grants, long milliseconds, CancellationToken cancellationToken);

    [Mutator(5)]
    private partial ValueTask<bool> RenewAsync([VersionKey] LeaseRenewal lease, CancellationToken cancellationToken);

    // This one and the next are writes of the whole map: the keys that end are not told by the call.
    /// <summary>Ends a lease and its entries; without effect if it has ended.</summary>
    [Mutator(6)]
    public partial ValueTask EndAsync(long lease, CancellationToken cancellationToken = default);

    [Mutator(7)]
    private partial ValueTask ExpireAsync(long lease, long version, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableDictionary<TKey, LeasedEntry<TValue>>> ItemsAsync(
        CancellationToken cancellationToken);

    private bool ApplyRemove(TKey key)
    {
        if (!_items.ContainsKey(key)) return false;
        Detach(key);
        _items = _items.Remove(key);
        return true;
    }

    private void ApplySetOfLease(TKey key, TValue value, long lease)
    {
        if (!_leases.Items.ContainsKey(lease)) throw Reject($"lease {lease} has ended");
        Detach(key, lease);
        LeasedKeys<TKey> keys = _leases.Items[lease].Value;
        _leases = _leases.With(lease, keys with { Keys = keys.Keys.Add(key) });
        _items = _items.SetItem(key, new(value, lease));
    }

    private void ApplySetFor(TKey key, TValue value, long milliseconds)
    {
        Detach(key);
        _leases = _leases.Grant(new([key], IsEntrys: true), milliseconds);
        _items = _items.SetItem(key, new(value, _leases.Last));
    }

#pragma warning disable TANGO024 // Leases are not granted in transactions.
    private long ApplyGrant(LeaseGrants grants, long milliseconds)
    {
        _leases = _leases.Grant(new([], IsEntrys: false), milliseconds);
        return _leases.Last;
    }
#pragma warning restore TANGO024

    private bool ApplyRenew(LeaseRenewal lease)
    {
        if (!_leases.Items.ContainsKey(lease.Lease)) return false;
        _leases = _leases.Renew(lease.Lease);
        return true;
    }

    private void ApplyEnd(long lease)
    {
        if (_leases.Items.ContainsKey(lease)) End(lease);
    }

    private void ApplyExpire(long lease, long version)
    {
        if (_leases.IsSilent(lease, version)) End(lease);
    }

    private void End(long lease)
    {
        _items = _items.RemoveRange(_leases.Items[lease].Value.Keys);
        _leases = _leases.End(lease);
    }

    // Removes the key from its lease. A lease that was the entry's own ends.
    private void Detach(TKey key, long except = 0)
    {
        if (!_items.TryGetValue(key, out LeasedEntry<TValue> entry) || entry.Lease == except) return;
        LeasedKeys<TKey> keys = _leases.Items[entry.Lease].Value;
        _leases = keys.IsEntrys
            ? _leases.End(entry.Lease)
            : _leases.With(entry.Lease, keys with { Keys = keys.Keys.Remove(key) });
    }

    private Lookup<TValue> ReadTryGet(TKey key) =>
        _items.TryGetValue(key, out LeasedEntry<TValue> entry) ? Lookup.Of(entry.Value) : Lookup<TValue>.None;

    private int ReadCount() => _items.Count;

    private ImmutableDictionary<TKey, LeasedEntry<TValue>> ReadItems() => _items;
}

[MessagePackObject]
internal readonly record struct LeasedEntry<T>([property: Key(0)] T Value, [property: Key(1)] long Lease);

/// <param name="IsEntrys">The lease is one entry's own, and has no owner that renews it.</param>
[MessagePackObject]
internal sealed record LeasedKeys<TKey>(
    [property: Key(0)] ImmutableHashSet<TKey> Keys, [property: Key(1)] bool IsEntrys);
