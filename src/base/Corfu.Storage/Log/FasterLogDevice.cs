using FASTER.core;

namespace Corfu.Storage;

/// <summary>FASTER's view of the segment files. Its writes are queued, and <see cref="DrainAsync"/> carries them out on
/// the store's writer thread: all writes, one fdatasync per file touched, then the callbacks. (FASTER's own Linux
/// device opens its files O_SYNC, locks per I/O and never syncs a directory.)</summary>
internal sealed class FasterLogDevice(ISegmentFiles files, SegmentSpace space)
    : StorageDeviceBase("corfu-log", SectorBytes, -1)
{
    private const uint SectorBytes = 512;
    private const uint IoError = 5;

    private readonly Lock _gate = new();
    private List<PendingWrite> _pending = [];
    private List<PendingWrite> _running = [];
    private readonly SortedSet<int> _touched = [];

    public override void WriteAsync(IntPtr sourceAddress, int segmentId, ulong destinationAddress, uint numBytesToWrite,
        DeviceIOCompletionCallback callback, object context)
    {
        lock (_gate)
            _pending.Add(new PendingWrite(sourceAddress, segmentId, (long)destinationAddress, (int)numBytesToWrite,
                callback, context));
    }

    /// <summary>Makes durable everything queued so far; false if there was nothing. Reports an error to FASTER, then
    /// throws it.</summary>
    public async ValueTask<bool> DrainAsync()
    {
        lock (_gate)
        {
            if (_pending.Count == 0) return false;
            (_pending, _running) = (_running, _pending);
        }

        var done = false;
        try
        {
            foreach (var write in _running) Write(write);
            foreach (var segment in _touched) await files.SyncAsync(segment);
            done = true;
        }
        finally
        {
            _touched.Clear();
            foreach (var write in _running) write.Callback(done ? 0 : IoError, (uint)write.Length, write.Context);
            _running.Clear();
        }

        return true;
    }

    public override unsafe void ReadAsync(int segmentId, ulong sourceAddress, IntPtr destinationAddress,
        uint readLength, DeviceIOCompletionCallback callback, object context)
    {
        files.Read(segmentId, (long)sourceAddress, new Span<byte>((void*)destinationAddress, (int)readLength));
        callback(0, readLength, context);
    }

    /// <summary>Not used: the store deletes segments, when the record that replaces them is durable.</summary>
    public override void RemoveSegmentAsync(int segment, AsyncCallback callback, IAsyncResult result) =>
        callback(result);

    public override void Dispose()
    {
    }

    private unsafe void Write(in PendingWrite write)
    {
        space.EnsureSegment(write.Segment);
        files.Write(write.Segment, write.Offset, new ReadOnlySpan<byte>((void*)write.Source, write.Length));
        _touched.Add(write.Segment);
    }

    private readonly record struct PendingWrite(
        IntPtr Source, int Segment, long Offset, int Length, DeviceIOCompletionCallback Callback, object Context);
}
