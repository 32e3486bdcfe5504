using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Collections;

/// <summary>
/// A replicated map in the order of its keys: ordinal for strings, whatever the culture. Operations on one key
/// conflict, in transactions, only with operations on the same key and with those on the whole map. Every ordered read
/// is one of the whole map: it conflicts with writes outside of its range, too.
/// </summary>
/// <remarks>Costs O(log n) for a key; <see cref="TangoDictionary{TKey,TValue}"/> is the smaller where order is not
/// needed.</remarks>
/// <typeparam name="TKey">
/// As the key of <see cref="TangoDictionary{TKey,TValue}"/>, with an order: a [MessagePackObject] record implements
/// <see cref="IComparable{T}"/>. Its CompareTo gives zero exactly for equal keys and the same in every process, so it
/// compares strings by <see cref="string.CompareOrdinal(string, string)"/>.
/// Others are refused when the object is opened.
/// </typeparam>
/// <typeparam name="TValue">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.sorted-dictionary")]
public sealed partial class TangoSortedDictionary<TKey, TValue> : TangoObject
    where TKey : notnull
{
    // The keys of _items, which alone cannot be read from the middle on.
    private ImmutableSortedSet<TKey> _keys = SortedKeys<TKey>.Empty;

    private ImmutableSortedDictionary<TKey, TValue> _items =
        ImmutableSortedDictionary<TKey, TValue>.Empty.WithComparers(
            TangoOrder<TKey>.Comparer, AlwaysDifferent<TValue>.Instance);

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

    /// <summary>Linearizable. The pair with the least key; none if the map is empty. In a transaction it conflicts with
    /// every write to the map.</summary>
    [Accessor]
    public partial ValueTask<Lookup<KeyValuePair<TKey, TValue>>> FirstAsync(
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The pair with the greatest key, as <see cref="FirstAsync"/>.</summary>
    [Accessor]
    public partial ValueTask<Lookup<KeyValuePair<TKey, TValue>>> LastAsync(
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The pair with the least key above <paramref name="key"/>, which need not be in the map.
    /// In a transaction it conflicts with every write to the map.</summary>
    [Accessor]
    public partial ValueTask<Lookup<KeyValuePair<TKey, TValue>>> NextAsync(TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The pair with the greatest key below <paramref name="key"/>, as
    /// <see cref="NextAsync"/>.</summary>
    [Accessor]
    public partial ValueTask<Lookup<KeyValuePair<TKey, TValue>>> PreviousAsync(TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>
    /// Linearizable. The pairs in a range, all at one position; costs O(log n) for each of them. In a transaction it
    /// conflicts with every write to the map, so nothing in the range can be added, removed or changed before the
    /// transaction commits.
    /// </summary>
    /// <param name="range">For example <c>KeyRange.Prefix("jobs/").Reversed().Take(10)</c>.</param>
    [Accessor]
    public partial ValueTask<ImmutableArray<KeyValuePair<TKey, TValue>>> ScanAsync(KeyRange<TKey> range,
        CancellationToken cancellationToken = default);

    /// <summary>The whole map at one position, for synchronous reads and ordered enumeration; taking it costs nothing.
    /// In a transaction it conflicts with every write to the map.</summary>
    public async ValueTask<ImmutableSortedDictionary<TKey, TValue>> SnapshotAsync(
        CancellationToken cancellationToken = default)
    {
        var items = await ItemsAsync(cancellationToken);
        // Costs nothing: only the value comparer changes. The view's own never matches, a reader's must.
        return items.WithComparers(items.KeyComparer, StoredEquality<TValue>.Comparer);
    }

    [Accessor]
    private partial ValueTask<ImmutableSortedDictionary<TKey, TValue>> ItemsAsync(CancellationToken cancellationToken);

    private void ApplySet(TKey key, TValue value) => Put(key, value);

    private bool ApplyTryAdd(TKey key, TValue value)
    {
        if (_items.ContainsKey(key)) return false;
        Put(key, value);
        return true;
    }

    private bool ApplyTryUpdateEqual(TKey key, TValue value, TValue expected) =>
        Replace(key, value, expected, EqualityComparer<TValue>.Default);

    private bool ApplyTryUpdateStored(TKey key, TValue value, TValue expected) =>
        Replace(key, value, expected, StoredEquality<TValue>.Comparer);

    private bool Replace(TKey key, TValue value, TValue expected, IEqualityComparer<TValue> comparer)
    {
        if (!_items.TryGetValue(key, out TValue? current) || !comparer.Equals(current, expected)) return false;
        Put(key, value);
        return true;
    }

    private bool ApplyRemove(TKey key) => ApplyTake(key).Found;

    private Lookup<TValue> ApplyTake(TKey key)
    {
        if (!_items.TryGetValue(key, out TValue? value)) return Lookup<TValue>.None;
        _items = _items.Remove(key);
        _keys = _keys.Remove(key);
        return Lookup.Of(value);
    }

    private TValue ApplyGetOrAdd(TKey key, TValue value)
    {
        if (_items.TryGetValue(key, out TValue? current)) return current;
        Put(key, value);
        return value;
    }

    private void ApplyClear()
    {
        _items = _items.Clear();
        _keys = _keys.Clear();
    }

    private void Put(TKey key, TValue value)
    {
        _items = _items.SetItem(key, value);
        _keys = _keys.Add(key);
    }

    private Lookup<TValue> ReadTryGet(TKey key) =>
        _items.TryGetValue(key, out TValue? value) ? Lookup.Of(value) : Lookup<TValue>.None;

    private bool ReadContainsKey(TKey key) => _items.ContainsKey(key);

    private int ReadCount() => _items.Count;

    private Lookup<KeyValuePair<TKey, TValue>> ReadFirst() => Pair(SortedKeys<TKey>.First(_keys));

    private Lookup<KeyValuePair<TKey, TValue>> ReadLast() => Pair(SortedKeys<TKey>.Last(_keys));

    private Lookup<KeyValuePair<TKey, TValue>> ReadNext(TKey key) => Pair(SortedKeys<TKey>.Next(_keys, key));

    private Lookup<KeyValuePair<TKey, TValue>> ReadPrevious(TKey key) => Pair(SortedKeys<TKey>.Previous(_keys, key));

    private ImmutableArray<KeyValuePair<TKey, TValue>> ReadScan(KeyRange<TKey> range) => range.Of(_keys, Pair);

    private ImmutableSortedDictionary<TKey, TValue> ReadItems() => _items;

    private Lookup<KeyValuePair<TKey, TValue>> Pair(Lookup<TKey> key) =>
        key.TryGet(out TKey? found) ? Lookup.Of(Pair(found)) : Lookup<KeyValuePair<TKey, TValue>>.None;

    private KeyValuePair<TKey, TValue> Pair(TKey key) => new(key, _items[key]);
}
