using System.Globalization;
using FASTER.core;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Unit;

/// <summary>
/// Where the address map spills what does not fit in memory: plain files that are never synced, since the map is rebuilt from the log
/// at every start, and deleted with the store.
/// </summary>
internal sealed class ScratchDevice : StorageDeviceBase
{
    private readonly string _directory;
    private readonly Lock _gate = new();
    private readonly Dictionary<int, SafeFileHandle> _open = [];

    public ScratchDevice(string directory)
        : base(Path.Combine(directory, "map"), 512, -1)
    {
        _directory = directory;
        if (Directory.Exists(directory)) Directory.Delete(directory, true);
        Directory.CreateDirectory(directory);
    }

    public override unsafe void WriteAsync(
        IntPtr sourceAddress, int segmentId, ulong destinationAddress, uint numBytesToWrite, DeviceIOCompletionCallback callback, object context)
    {
        RandomAccess.Write(Handle(segmentId), new ReadOnlySpan<byte>((void*)sourceAddress, (int)numBytesToWrite), (long)destinationAddress);
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

        Directory.Delete(_directory, true);
    }

    private SafeFileHandle Handle(int segment)
    {
        lock (_gate)
        {
            if (!_open.TryGetValue(segment, out var handle))
            {
                handle = File.OpenHandle(PathOf(segment), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.Read | FileShare.Delete);
                _open[segment] = handle;
            }

            return handle;
        }
    }

    private string PathOf(int segment) => Path.Combine(_directory, "map." + segment.ToString(CultureInfo.InvariantCulture));
}
