using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated set. Operations on one item conflict, in transactions, only with operations on the same item and with
/// those on the whole set.
/// </summary>
/// <typeparam name="T">As the key of <see cref="TangoDictionary{TKey,TValue}"/>.</typeparam>
[TangoObject("tango.set")]
public sealed partial class TangoSet<T> : TangoObject
    where T : notnull
{
    private ImmutableHashSet<T> _items = [];

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

    /// <summary>
    /// The whole set at one position; taking it costs nothing. Its order differs between processes. In a transaction it
    /// conflicts with every write to the set.
    /// </summary>
    [Accessor]
    public partial ValueTask<ImmutableHashSet<T>> SnapshotAsync(CancellationToken cancellationToken = default);

    private bool ApplyAdd(T item)
    {
        ImmutableHashSet<T> before = _items;
        _items = before.Add(item);
        return !ReferenceEquals(before, _items);
    }

    private bool ApplyRemove(T item)
    {
        ImmutableHashSet<T> before = _items;
        _items = before.Remove(item);
        return !ReferenceEquals(before, _items);
    }

    private void ApplyEnsure(T item) => _items = _items.Add(item);

    private void ApplyDrop(T item) => _items = _items.Remove(item);

    private void ApplyClear() => _items = _items.Clear();

    private bool ReadContains(T item) => _items.Contains(item);

    private int ReadCount() => _items.Count;

    private ImmutableHashSet<T> ReadSnapshot() => _items;
}
