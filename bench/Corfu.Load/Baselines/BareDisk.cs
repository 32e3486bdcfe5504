using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Load;

/// <summary>Least cost of one caller's durable write: write and fdatasync, one after the other, into a file whose
/// blocks were written before (never-written extents make fdatasync journal).</summary>
internal sealed partial class BareDisk : IDisposable
{
    private const int FileSize = 64 << 20;

    private readonly string _path;
    private readonly byte[] _data;
    private readonly SafeFileHandle _file;
    private long _at;

    public BareDisk(string folder, int size)
    {
        _path = Path.Combine(folder, $"corfu-load-{Environment.ProcessId}.tmp");
        _data = new byte[size];
        Random.Shared.NextBytes(_data);
        _file = File.OpenHandle(_path, FileMode.Create, FileAccess.ReadWrite);
        var zeros = new byte[1 << 20];
        for (long at = 0; at < FileSize; at += zeros.Length) RandomAccess.Write(_file, zeros, at);
        RandomAccess.FlushToDisk(_file);
    }

    public static RoundResult Run(string folder, int size, TimeSpan duration)
    {
        using var disk = new BareDisk(folder, size);
        var histogram = Latencies.Create();
        var start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < duration)
        {
            var began = Stopwatch.GetTimestamp();
            disk.Write();
            histogram.RecordSince(began);
        }

        return RoundResult.Of(histogram, Stopwatch.GetElapsedTime(start).TotalSeconds, 0);
    }

    public void Write()
    {
        RandomAccess.Write(_file, _data, _at);
        _at = _at + (2 * _data.Length) > FileSize ? 0 : _at + _data.Length;
        if (!OperatingSystem.IsLinux()) RandomAccess.FlushToDisk(_file);
        else if (FDataSync(_file) != 0)
            throw new IOException($"fdatasync failed (errno {Marshal.GetLastPInvokeError()}).");
    }

    public void Dispose()
    {
        _file.Dispose();
        File.Delete(_path);
    }

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FDataSync(SafeFileHandle handle);
}
