using System.Globalization;
using FASTER.core;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Unit;

/// <summary>
/// Plain files, one per segment, with every read and write done when the call returns; synced only when asked to, since what FASTER keeps there
/// can be had from the log again.
/// </summary>
/// <param name="path">Of the files, without the number of the segment.</param>
/// <param name="failed">Told when a write fails: FASTER only logs it, and what was written would be missing later.</param>
internal sealed class PlainFileDevice(string path, Action<Exception> failed) : StorageDeviceBase(path, 512, -1)
{
    private const uint IoError = 5;

    private readonly Lock _gate = new();
    private readonly Dictionary<int, SafeFileHandle> _open = [];

    private readonly HashSet<int> _written = [];

    public override unsafe void WriteAsync(
        IntPtr sourceAddress, int segmentId, ulong destinationAddress, uint numBytesToWrite, DeviceIOCompletionCallback callback, object context)
    {
        try
        {
            RandomAccess.Write(Handle(segmentId), new ReadOnlySpan<byte>((void*)sourceAddress, (int)numBytesToWrite), (long)destinationAddress);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            failed(error);
            callback(IoError, numBytesToWrite, context);
            return;
        }

        // Not before: a sync between the two would miss it.
        lock (_gate) _written.Add(segmentId);
        callback(0, numBytesToWrite, context);
    }

    public override unsafe void ReadAsync(
        int segmentId, ulong sourceAddress, IntPtr destinationAddress, uint readLength, DeviceIOCompletionCallback callback, object context)
    {
        var target = new Span<byte>((void*)destinationAddress, (int)readLength);
        var read = RandomAccess.Read(Handle(segmentId), target, (long)sourceAddress);
        target[read..].Clear();
        callback(0, readLength, context);
    }

    /// <summary>Everything written so far is durable on return.</summary>
    public void Sync()
    {
        int[] written;
        lock (_gate)
        {
            written = [.. _written.Order()];
            _written.Clear();
        }

        foreach (var segment in written)
        {
            if (File.Exists(PathOf(segment))) Native.SyncData(Handle(segment), PathOf(segment));
        }
    }

    public override void RemoveSegmentAsync(int segment, AsyncCallback callback, IAsyncResult result)
    {
        lock (_gate)
        {
            if (_open.Remove(segment, out var handle)) handle.Dispose();
            File.Delete(PathOf(segment));
        }

        callback(result);
    }

    public override void Dispose()
    {
        lock (_gate)
        {
            foreach (var handle in _open.Values) handle.Dispose();
            _open.Clear();
        }
    }

    private SafeFileHandle Handle(int segment)
    {
        lock (_gate)
        {
            if (!_open.TryGetValue(segment, out var handle))
            {
                handle = File.OpenHandle(PathOf(segment), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
                _open[segment] = handle;
            }

            return handle;
        }
    }

    private string PathOf(int segment) => FileName + "." + segment.ToString(CultureInfo.InvariantCulture);
}
