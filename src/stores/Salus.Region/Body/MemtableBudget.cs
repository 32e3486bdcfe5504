namespace Salus.Region.Body;

/// <summary>The memory of all memtables of a node: beyond the limit, regions with more than their share are due for a
/// cut before they have a file's worth. Thread-safe.</summary>
/// <param name="limit">Bytes. Default 256 MiB.</param>
internal sealed class MemtableBudget(long limit = MemtableBudget.DefaultLimit)
{
    public const long DefaultLimit = 256 << 20;

    /// <summary>The size at which a memtable becomes a file.</summary>
    public const long CutBytes = 32 << 20;

    private long _used;
    private int _bodies;

    /// <summary>Bytes of all memtables, frozen ones included.</summary>
    public long Used => Interlocked.Read(ref _used);

    public void Open() => Interlocked.Increment(ref _bodies);

    public void Close(long bytes)
    {
        Interlocked.Decrement(ref _bodies);
        Add(-bytes);
    }

    public void Add(long bytes) => Interlocked.Add(ref _used, bytes);

    /// <summary>Whether a region's memtable is to be cut, by its size alone.</summary>
    public bool IsDue(long bytes) =>
        bytes >= CutBytes || (bytes > 0 && Used > limit && bytes >= Used / Math.Max(1, Volatile.Read(ref _bodies)));
}
