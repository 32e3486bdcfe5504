namespace Salus.Writes;

/// <summary>The batches of a volume that have not ended, in their order: those that are under way, then those that wait
/// for their numbers. Guarded by the driver's gate.</summary>
/// <param name="window">Batches under way.</param>
/// <param name="windowBytes">Bytes of these batches; a single batch may have more.</param>
internal sealed class BatchQueue(int window, long windowBytes)
{
    // While fewer are under way a batch leaves at once; else requests collect, as in group commit. The second one
    // keeps the disks busy while the first one's answers travel.
    private const int Eager = 2;

    private readonly LinkedList<Batch> _batches = [];

    // The first batch without a number.
    private LinkedListNode<Batch>? _next;
    private int _sent;
    private long _sentBytes;

    /// <summary>Bytes of all requests in the queue.</summary>
    public long Bytes { get; private set; }

    /// <summary>The oldest batch under way; null: none is.</summary>
    public Batch? Oldest => _sent > 0 ? _batches.First!.Value : null;

    /// <summary>The newest batch, with a number or without.</summary>
    public Batch? Newest => _batches.Last?.Value;

    public int Sent => _sent;

    public IEnumerable<Batch> All => _batches;

    public void Place(PlacedRequest request)
    {
        Bytes += request.Data.Length;
        if (_batches.Last is { Value: var last } && last.Takes(request)) last.Add(request);
        else Append(new Batch(isMarker: false, [])).Add(request);
    }

    /// <summary>A batch without requests.</summary>
    public void Place(Batch batch) => Append(batch);

    /// <summary>The next batch, if it may leave now; its data is to be copied.</summary>
    public Batch? Take()
    {
        if (_next is not { Value: { Stage: BatchStage.Open } batch } node) return null;
        if (_sent > 0 && (_sent >= window || _sentBytes + batch.Bytes > windowBytes)) return null;
        if (_sent >= Eager && !batch.IsFull && batch.Also.IsEmpty && node.Next is null) return null;
        batch.Stage = BatchStage.Copying;
        return batch;
    }

    /// <summary>The batch that was taken has a number.</summary>
    public void OnSent(Batch batch)
    {
        _sent++;
        SalusClientTelemetry.Pending.Add(1);
        _sentBytes += batch.Bytes;
        _next = _next!.Next;
    }

    /// <summary>The batch has ended without a number.</summary>
    public void Drop(Batch batch)
    {
        if (_next?.Value == batch) _next = _next.Next;
        if (_batches.Remove(batch)) Bytes -= batch.Bytes;
    }

    /// <summary>A request whose data was not copied yet fails.</summary>
    public void Remove(Batch batch, PlacedRequest request)
    {
        batch.Remove(request);
        Bytes -= request.Data.Length;
    }

    /// <summary>The oldest batch under way has ended.</summary>
    public Batch DequeueOldest()
    {
        var oldest = _batches.First!.Value;
        _batches.RemoveFirst();
        _sent--;
        SalusClientTelemetry.Pending.Add(-1);
        _sentBytes -= oldest.Bytes;
        Bytes -= oldest.Bytes;
        return oldest;
    }

    /// <summary>Ends all that is left; newest first.</summary>
    public List<Batch> TakeAll()
    {
        var all = _batches.Reverse().ToList();
        _batches.Clear();
        SalusClientTelemetry.Pending.Add(-_sent);
        (_next, _sent, _sentBytes, Bytes) = (null, 0, 0, 0);
        return all;
    }

    /// <summary>For each block, the newest batch that changes it, by requests that have their places.</summary>
    /// <param name="sources">Null: no batch changes any of them.</param>
    public void FindSources(long first, int count, ref Batch?[]? sources)
    {
        var left = count;
        for (var node = _batches.Last; node is not null && left > 0; node = node.Previous)
        {
            var batch = node.Value;
            if (!batch.Touches(first, first + count)) continue;
            foreach (var request in batch.Requests)
            {
                if (!request.Overlaps(first, first + count)) continue;
                sources ??= new Batch?[count];
                var end = (int)(Math.Min(request.End, first + count) - first);
                for (var i = (int)(Math.Max(request.First, first) - first); i < end; i++)
                {
                    if (sources[i] is not null) continue;
                    sources[i] = batch;
                    left--;
                }
            }
        }
    }

    private Batch Append(Batch batch)
    {
        var node = _batches.AddLast(batch);
        _next ??= node;
        return batch;
    }
}
