using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated map. Operations on one key conflict, in transactions, only with operations on the same key and with
/// those on the whole map (<see cref="CountAsync"/>, <see cref="SnapshotAsync"/>, <see cref="ClearAsync"/>).
/// </summary>
/// <typeparam name="TKey">
/// A type whose equal values have equal bytes: integers, strings, Guid, enums, tuples and [MessagePackObject] records
/// of them.
/// Others, such as <c>decimal</c>, are refused when the object is opened.
/// </typeparam>
/// <typeparam name="TValue">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.dictionary")]
public sealed partial class TangoDictionary<TKey, TValue> : TangoObject
    where TKey : notnull
{
    private ImmutableDictionary<TKey, TValue> _items =
        ImmutableDictionary<TKey, TValue>.Empty.WithComparers(null, AlwaysDifferent<TValue>.Instance);

    /// <summary>Adds or replaces, without reading. Durable in the log when it completes.</summary>
    [Mutator(1)]
    public partial ValueTask SetAsync([VersionKey] TKey key, TValue value,
        CancellationToken cancellationToken = default);

    /// <summary>False if the key is there already; nothing is changed then.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> TryAddAsync([VersionKey] TKey key, TValue value,
        CancellationToken cancellationToken = default);

    /// <summary>
    /// Replaces only if the key has the value <paramref name="expected"/>, by the type's own Equals; true if it had.
    /// Arrays and collections are compared by their contents.
    /// </summary>
    public ValueTask<bool> TryUpdateAsync(
        TKey key, TValue value, TValue expected, CancellationToken cancellationToken = default) =>
        StoredEquality<TValue>.IsNeeded
            ? TryUpdateStoredAsync(key, value, expected, cancellationToken)
            : TryUpdateEqualAsync(key, value, expected, cancellationToken);

    // Records of 3 keep the meaning that they had when they were written: arrays and collections never matched.
    [Mutator(3)]
    private partial ValueTask<bool> TryUpdateEqualAsync(
        [VersionKey] TKey key, TValue value, TValue expected, CancellationToken cancellationToken);

    /// <summary>True if the key was there.</summary>
    [Mutator(4)]
    public partial ValueTask<bool> RemoveAsync([VersionKey] TKey key, CancellationToken cancellationToken = default);

    /// <summary>Removes the key and returns the value it had.</summary>
    [Mutator(5)]
    public partial ValueTask<Lookup<TValue>> TakeAsync([VersionKey] TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Adds the key if it is missing; returns the value it has then.</summary>
    [Mutator(6)]
    public partial ValueTask<TValue> GetOrAddAsync([VersionKey] TKey key, TValue value,
        CancellationToken cancellationToken = default);

    /// <summary>Removes all keys; conflicts with every other operation.</summary>
    [Mutator(7)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    [Mutator(8)]
    private partial ValueTask<bool> TryUpdateStoredAsync(
        [VersionKey] TKey key, TValue value, TValue expected, CancellationToken cancellationToken);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<Lookup<TValue>> TryGetAsync([VersionKey] TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<bool> ContainsKeyAsync([VersionKey] TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable; in a transaction it conflicts with every write to the map.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>
    /// The whole map at one position, for synchronous reads and enumeration; taking it costs nothing. Its order differs
    /// between processes. In a transaction it conflicts with every write to the map.
    /// </summary>
    public async ValueTask<ImmutableDictionary<TKey, TValue>> SnapshotAsync(
        CancellationToken cancellationToken = default)
    {
        var items = await ItemsAsync(cancellationToken);
        // Costs nothing: only the value comparer changes. The view's own never matches, a reader's must.
        return items.WithComparers(items.KeyComparer, StoredEquality<TValue>.Comparer);
    }

    [Accessor]
    private partial ValueTask<ImmutableDictionary<TKey, TValue>> ItemsAsync(CancellationToken cancellationToken);

    private void ApplySet(TKey key, TValue value) => _items = _items.SetItem(key, value);

    private bool ApplyTryAdd(TKey key, TValue value)
    {
        if (_items.ContainsKey(key)) return false;
        _items = _items.Add(key, value);
        return true;
    }

    private bool ApplyTryUpdateEqual(TKey key, TValue value, TValue expected) =>
        Replace(key, value, expected, EqualityComparer<TValue>.Default);

    private bool ApplyTryUpdateStored(TKey key, TValue value, TValue expected) =>
        Replace(key, value, expected, StoredEquality<TValue>.Comparer);

    private bool Replace(TKey key, TValue value, TValue expected, IEqualityComparer<TValue> comparer)
    {
        if (!_items.TryGetValue(key, out TValue? current) || !comparer.Equals(current, expected)) return false;
        _items = _items.SetItem(key, value);
        return true;
    }

    private bool ApplyRemove(TKey key)
    {
        ImmutableDictionary<TKey, TValue> before = _items;
        _items = before.Remove(key);
        return !ReferenceEquals(before, _items);
    }

    private Lookup<TValue> ApplyTake(TKey key)
    {
        if (!_items.TryGetValue(key, out TValue? value)) return Lookup<TValue>.None;
        _items = _items.Remove(key);
        return Lookup.Of(value);
    }

    private TValue ApplyGetOrAdd(TKey key, TValue value)
    {
        if (_items.TryGetValue(key, out TValue? current)) return current;
        _items = _items.Add(key, value);
        return value;
    }

    private void ApplyClear() => _items = _items.Clear();

    private Lookup<TValue> ReadTryGet(TKey key) =>
        _items.TryGetValue(key, out TValue? value) ? Lookup.Of(value) : Lookup<TValue>.None;

    private bool ReadContainsKey(TKey key) => _items.ContainsKey(key);

    private int ReadCount() => _items.Count;

    private ImmutableDictionary<TKey, TValue> ReadItems() => _items;
}
