using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated first-in-first-out queue. Enqueueing does not read, so transactions that only enqueue never conflict;
/// those that take or look conflict with every change of the queue.
/// </summary>
/// <typeparam name="T">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.queue")]
public sealed partial class TangoQueue<T> : TangoObject
{
    // A balanced tree rather than ImmutableQueue, whose dequeue now and then costs O(n), again for every snapshot, and
    // which cannot count.
    private ImmutableList<T> _items = [];

    /// <summary>Durable in the log when it completes.</summary>
    [Mutator(1)]
    public partial ValueTask EnqueueAsync(T item, CancellationToken cancellationToken = default);

    /// <summary>Takes the oldest item; no other caller gets it. None if the queue is empty.</summary>
    [Mutator(2)]
    public partial ValueTask<Lookup<T>> TryDequeueAsync(CancellationToken cancellationToken = default);

    /// <summary>Takes up to <paramref name="most"/> of the oldest items, oldest first.</summary>
    [Mutator(3)]
    public partial ValueTask<ImmutableArray<T>> DequeueManyAsync(int most,
        CancellationToken cancellationToken = default);

    [Mutator(4)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<Lookup<T>> TryPeekAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>The whole queue at one position, oldest first; taking it costs nothing.</summary>
    [Accessor]
    public partial ValueTask<ImmutableList<T>> SnapshotAsync(CancellationToken cancellationToken = default);

    private void ApplyEnqueue(T item) => _items = _items.Add(item);

    private Lookup<T> ApplyTryDequeue()
    {
        if (_items.IsEmpty) return Lookup<T>.None;
        T item = _items[0];
        _items = _items.RemoveAt(0);
        return Lookup.Of(item);
    }

    private ImmutableArray<T> ApplyDequeueMany(int most)
    {
        int count = Math.Clamp(most, 0, _items.Count);
        ImmutableArray<T> taken = [.. _items.GetRange(0, count)];
        _items = _items.RemoveRange(0, count);
        return taken;
    }

    private void ApplyClear() => _items = [];

    private Lookup<T> ReadTryPeek() => _items.IsEmpty ? Lookup<T>.None : Lookup.Of(_items[0]);

    private int ReadCount() => _items.Count;

    private ImmutableList<T> ReadSnapshot() => _items;
}
