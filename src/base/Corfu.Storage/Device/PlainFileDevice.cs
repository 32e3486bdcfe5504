using System.Globalization;
using FASTER.core;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Storage;

/// <summary>Plain files <c>path.N</c>, one per segment, with every read and write done when the call returns; synced
/// only on request, since the log holds the same facts.</summary>
/// <param name="failed">Called when a write fails: FASTER only logs it.</param>
/// <param name="holdsWhenFull">A write that finds the disk full is kept in memory until there is room, instead of
/// failing.</param>
/// <param name="write">For tests with a full disk.</param>
internal sealed class PlainFileDevice(string path, Action<Exception> failed, bool holdsWhenFull = false,
    WriteBytes? write = null)
    : StorageDeviceBase(path, 512, -1)
{
    private const uint IoError = 5;

    [ThreadStatic]
    private static bool s_defers;

    private readonly Lock _gate = new();
    private readonly Dictionary<int, SafeFileHandle> _open = [];
    private readonly HashSet<int> _written = [];
    private readonly WriteBytes _write = write ?? DurableFile.Write;

    // Writes that found the disk full, in their order. Guarded by itself.
    private readonly List<(int Segment, long Offset, byte[] Bytes)> _held = [];
    private volatile bool _holds;

    /// <summary>Whether reads of this thread that need the disk are done on another one.</summary>
    public static bool Defers
    {
        get => s_defers;
        set => s_defers = value;
    }

    public override unsafe void WriteAsync(IntPtr sourceAddress, int segmentId, ulong destinationAddress,
        uint numBytesToWrite, DeviceIOCompletionCallback callback, object context)
    {
        try
        {
            Write(segmentId, new ReadOnlySpan<byte>((void*)sourceAddress, (int)numBytesToWrite),
                (long)destinationAddress);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            failed(error);
            callback(IoError, numBytesToWrite, context);
            return;
        }

        // After the write: a sync between the two would miss it.
        lock (_gate) _written.Add(segmentId);
        callback(0, numBytesToWrite, context);
    }

    public override unsafe void ReadAsync(int segmentId, ulong sourceAddress, IntPtr destinationAddress,
        uint readLength, DeviceIOCompletionCallback callback, object context)
    {
        var handle = Handle(segmentId);
        if (Defers && !_holds && !DurableFile.TryReadCached(handle,
            new Span<byte>((void*)destinationAddress, (int)readLength), (long)sourceAddress))
        {
            Task.Run(() => Read(handle, segmentId, (long)sourceAddress, destinationAddress, readLength, callback,
                context));
            return;
        }

        Read(handle, segmentId, (long)sourceAddress, destinationAddress, readLength, callback, context);
    }

    private unsafe void Read(SafeFileHandle handle, int segment, long offset, IntPtr destination, uint length,
        DeviceIOCompletionCallback callback, object context)
    {
        var target = new Span<byte>((void*)destination, (int)length);
        var read = RandomAccess.Read(handle, target, offset);
        target[read..].Clear();
        if (_holds) Overlay(segment, offset, target);
        callback(0, length, context);
    }

    private void Write(int segment, ReadOnlySpan<byte> bytes, long offset)
    {
        if (!holdsWhenFull)
        {
            _write(Handle(segment), PathOf(segment), bytes, offset);
            return;
        }

        lock (_held)
        {
            try
            {
                WriteHeld();
                _write(Handle(segment), PathOf(segment), bytes, offset);
            }
            catch (IOException error) when (DurableFile.IsFull(error))
            {
                var end = offset + bytes.Length;
                _held.RemoveAll(h => h.Segment == segment && h.Offset >= offset && h.Offset + h.Bytes.Length <= end);
                _held.Add((segment, offset, bytes.ToArray()));
                _holds = true;
            }
        }
    }

    // Guarded by the caller.
    private void WriteHeld()
    {
        while (_held.Count > 0)
        {
            var (segment, offset, bytes) = _held[0];
            _write(Handle(segment), PathOf(segment), bytes, offset);
            _held.RemoveAt(0);
        }

        _holds = false;
    }

    private void Overlay(int segment, long offset, Span<byte> target)
    {
        lock (_held)
        {
            foreach (var held in _held)
            {
                var from = Math.Max(offset, held.Offset);
                var until = Math.Min(offset + target.Length, held.Offset + held.Bytes.Length);
                if (held.Segment != segment || from >= until) continue;
                held.Bytes.AsSpan((int)(from - held.Offset), (int)(until - from))
                    .CopyTo(target[(int)(from - offset)..]);
            }
        }
    }

    /// <summary>Everything written so far is durable on return.</summary>
    /// <exception cref="IOException">The disk is full, or has failed.</exception>
    public void Sync()
    {
        if (_holds)
        {
            lock (_held) WriteHeld();
        }

        int[] written;
        lock (_gate)
        {
            written = [.. _written.Order()];
            _written.Clear();
        }

        foreach (var segment in written)
        {
            if (File.Exists(PathOf(segment))) DurableFile.Sync(Handle(segment), PathOf(segment));
        }
    }

    public override void RemoveSegmentAsync(int segment, AsyncCallback callback, IAsyncResult result)
    {
        lock (_gate)
        {
            if (_open.Remove(segment, out var handle)) handle.Dispose();
            File.Delete(PathOf(segment));
        }

        if (_holds)
        {
            lock (_held) _held.RemoveAll(h => h.Segment == segment);
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
                handle = File.OpenHandle(PathOf(segment), FileMode.OpenOrCreate, FileAccess.ReadWrite,
                    FileShare.ReadWrite | FileShare.Delete);
                _open[segment] = handle;
            }

            return handle;
        }
    }

    private string PathOf(int segment) => FileName + "." + segment.ToString(CultureInfo.InvariantCulture);
}

/// <summary>Writes bytes into a file, as <see cref="DurableFile.Write"/> does.</summary>
public delegate void WriteBytes(SafeFileHandle file, string path, ReadOnlySpan<byte> bytes, long offset);
