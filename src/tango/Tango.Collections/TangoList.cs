using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>A replicated list. Every operation concerns the whole list, because an insertion moves all behind it; each
/// costs O(log n).</summary>
/// <typeparam name="T">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.list")]
public sealed partial class TangoList<T> : TangoObject
{
    private ImmutableList<T> _items = [];

    /// <summary>Appends at the end, without reading.</summary>
    [Mutator(1)]
    public partial ValueTask AddAsync(T item, CancellationToken cancellationToken = default);

    /// <exception cref="TangoRejectedException">The index is not between 0 and the count.</exception>
    [Mutator(2, MayReject = true)]
    public partial ValueTask InsertAsync(int index, T item, CancellationToken cancellationToken = default);

    /// <summary>Replaces the item at an index and returns the one before.</summary>
    /// <exception cref="TangoRejectedException">There is no item at the index.</exception>
    [Mutator(3, MayReject = true)]
    public partial ValueTask<T> SetAsync(int index, T item, CancellationToken cancellationToken = default);

    /// <summary>Removes the item at an index and returns it.</summary>
    /// <exception cref="TangoRejectedException">There is no item at the index.</exception>
    [Mutator(4, MayReject = true)]
    public partial ValueTask<T> RemoveAtAsync(int index, CancellationToken cancellationToken = default);

    [Mutator(5)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable. None if there is no item at the index.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> TryGetAsync(int index, CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>The whole list at one position; taking it costs nothing.</summary>
    [Accessor]
    public partial ValueTask<ImmutableList<T>> SnapshotAsync(CancellationToken cancellationToken = default);

    private void ApplyAdd(T item) => _items = _items.Add(item);

    private void ApplyInsert(int index, T item)
    {
        if (index < 0 || index > _items.Count)
            throw Reject($"cannot insert at {index}: the list has {_items.Count} items");
        _items = _items.Insert(index, item);
    }

    private T ApplySet(int index, T item)
    {
        T before = At(index);
        _items = _items.SetItem(index, item);
        return before;
    }

    private T ApplyRemoveAt(int index)
    {
        T before = At(index);
        _items = _items.RemoveAt(index);
        return before;
    }

    private void ApplyClear() => _items = [];

    private Lookup<T> ReadTryGet(int index) =>
        index < 0 || index >= _items.Count ? Lookup<T>.None : Lookup.Of(_items[index]);

    private int ReadCount() => _items.Count;

    private ImmutableList<T> ReadSnapshot() => _items;

    private T At(int index) =>
        index < 0 || index >= _items.Count
            ? throw Reject($"no item {index}: the list has {_items.Count} items")
            : _items[index];
}
