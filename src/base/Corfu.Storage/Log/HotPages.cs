namespace Corfu.Storage;

/// <summary>The last few megabytes of the log in a ring, so that reads at the tail need no system call. One writer,
/// under the store's lock; readers copy and then check that nothing was overwritten meanwhile.</summary>
internal sealed class HotPages(int capacity)
{
    private readonly byte[] _ring = new byte[capacity];

    // [_low, _head) has been written in this run; _claimed >= _head while a write is under way.
    private long _low = long.MaxValue;
    private long _claimed;
    private long _head;

    public void Put(long address, ReadOnlySpan<byte> bytes)
    {
        var end = address + bytes.Length;
        Volatile.Write(ref _claimed, end);
        Interlocked.MemoryBarrier();
        var at = (int)(address % _ring.Length);
        var first = Math.Min(bytes.Length, _ring.Length - at);
        bytes[..first].CopyTo(_ring.AsSpan(at));
        bytes[first..].CopyTo(_ring);
        if (_low == long.MaxValue) Volatile.Write(ref _low, address);
        Volatile.Write(ref _head, end);
    }

    public bool TryRead(long address, Span<byte> target)
    {
        if (address < Volatile.Read(ref _low) || address + target.Length > Volatile.Read(ref _head)
            || Overwritten(address)) return false;
        var at = (int)(address % _ring.Length);
        var first = Math.Min(target.Length, _ring.Length - at);
        _ring.AsSpan(at, first).CopyTo(target);
        _ring.AsSpan(0, target.Length - first).CopyTo(target[first..]);
        Interlocked.MemoryBarrier();
        return !Overwritten(address);
    }

    private bool Overwritten(long address) => Volatile.Read(ref _claimed) - _ring.Length > address;
}
