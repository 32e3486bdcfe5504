using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated set in the order of its items: ordinal for strings, whatever the culture. Operations on one item
/// conflict, in transactions, only with operations on the same item and with those on the whole set. Every ordered read
/// is one of the whole set: it conflicts with writes outside of its range, too.
/// </summary>
/// <typeparam name="T">As the key of <see cref="TangoSortedDictionary{TKey,TValue}"/>.</typeparam>
[TangoObject("tango.sorted-set")]
public sealed partial class TangoSortedSet<T> : TangoObject
    where T : notnull
{
    private ImmutableSortedSet<T> _items = SortedKeys<T>.Empty;

    /// <summary>False if the item was in the set already.</summary>
    [Mutator(1)]
    public partial ValueTask<bool> AddAsync([VersionKey] T item, CancellationToken cancellationToken = default);

    /// <summary>False if the item was not in the set.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> RemoveAsync([VersionKey] T item, CancellationToken cancellationToken = default);

    /// <summary>Makes the set contain the item, without reading whether it did.</summary>
    [Mutator(3)]
    public partial ValueTask EnsureAsync([VersionKey] T item, CancellationToken cancellationToken = default);

    /// <summary>Makes the set not contain the item, without reading whether it did.</summary>
    [Mutator(4)]
    public partial ValueTask DropAsync([VersionKey] T item, CancellationToken cancellationToken = default);

    /// <summary>Removes all items; conflicts with every other operation.</summary>
    [Mutator(5)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<bool> ContainsAsync([VersionKey] T item, CancellationToken cancellationToken = default);

    /// <summary>Linearizable; in a transaction it conflicts with every write to the set.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The least item; none if the set is empty. In a transaction it conflicts with every write
    /// to the set.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> FirstAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The greatest item, as <see cref="FirstAsync"/>.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> LastAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The least item above <paramref name="item"/>, which need not be in the set. In a
    /// transaction it conflicts with every write to the set.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> NextAsync(T item, CancellationToken cancellationToken = default);

    /// <summary>Linearizable. The greatest item below <paramref name="item"/>, as <see cref="NextAsync"/>.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> PreviousAsync(T item, CancellationToken cancellationToken = default);

    /// <summary>
    /// Linearizable. The items in a range, all at one position; costs O(log n) for each of them. In a transaction it
    /// conflicts with every write to the set, so nothing can be added to the range, or removed from it, before the
    /// transaction commits.
    /// </summary>
    [Accessor]
    public partial ValueTask<ImmutableArray<T>> ScanAsync(KeyRange<T> range,
        CancellationToken cancellationToken = default);

    /// <summary>The whole set at one position, for synchronous reads and ordered enumeration; taking it costs nothing.
    /// In a transaction it conflicts with every write to the set.</summary>
    [Accessor]
    public partial ValueTask<ImmutableSortedSet<T>> SnapshotAsync(CancellationToken cancellationToken = default);

    private bool ApplyAdd(T item)
    {
        ImmutableSortedSet<T> before = _items;
        _items = before.Add(item);
        return !ReferenceEquals(before, _items);
    }

    private bool ApplyRemove(T item)
    {
        ImmutableSortedSet<T> before = _items;
        _items = before.Remove(item);
        return !ReferenceEquals(before, _items);
    }

    private void ApplyEnsure(T item) => _items = _items.Add(item);

    private void ApplyDrop(T item) => _items = _items.Remove(item);

    private void ApplyClear() => _items = _items.Clear();

    private bool ReadContains(T item) => _items.Contains(item);

    private int ReadCount() => _items.Count;

    private Lookup<T> ReadFirst() => SortedKeys<T>.First(_items);

    private Lookup<T> ReadLast() => SortedKeys<T>.Last(_items);

    private Lookup<T> ReadNext(T item) => SortedKeys<T>.Next(_items, item);

    private Lookup<T> ReadPrevious(T item) => SortedKeys<T>.Previous(_items, item);

    private ImmutableArray<T> ReadScan(KeyRange<T> range) => range.Of(_items, static item => item);

    private ImmutableSortedSet<T> ReadSnapshot() => _items;
}
