using System.Globalization;
using FASTER.core;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Unit;

/// <summary>
/// Where the address map spills what does not fit in memory: plain files, synced only for a checkpoint, since the map can be rebuilt from
/// the log at every start.
/// </summary>
internal sealed class ScratchDevice : StorageDeviceBase
{
    private const uint IoError = 5;

    private readonly string _directory;
    private readonly Action<Exception> _failed;
    private readonly Lock _gate = new();
    private readonly Dictionary<int, SafeFileHandle> _open = [];

    private readonly HashSet<int> _written = [];

    /// <param name="keep">Whether what an earlier run left there is still wanted.</param>
    /// <param name="failed">Told when a write fails.</param>
    public ScratchDevice(string directory, bool keep, Action<Exception> failed)
        : base(Path.Combine(directory, "map"), 512, -1)
    {
        _directory = directory;
        _failed = failed;
        if (!keep && Directory.Exists(directory)) Directory.Delete(directory, true);
        Directory.CreateDirectory(directory);
    }

    public override unsafe void WriteAsync(
        IntPtr sourceAddress, int segmentId, ulong destinationAddress, uint numBytesToWrite, DeviceIOCompletionCallback callback, object context)
    {
        lock (_gate) _written.Add(segmentId);
        try
        {
            RandomAccess.Write(Handle(segmentId), new ReadOnlySpan<byte>((void*)sourceAddress, (int)numBytesToWrite), (long)destinationAddress);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // FASTER only logs it, and slots would be missing later. The unit ends: what it cannot remember it must not answer for.
            _failed(new StoreFailedException($"The address map cannot be written: {error.Message}", error));
            callback(IoError, numBytesToWrite, context);
            return;
        }

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
                handle = File.OpenHandle(PathOf(segment), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.Read | FileShare.Delete);
                _open[segment] = handle;
            }

            return handle;
        }
    }

    private string PathOf(int segment) => Path.Combine(_directory, "map." + segment.ToString(CultureInfo.InvariantCulture));
}
