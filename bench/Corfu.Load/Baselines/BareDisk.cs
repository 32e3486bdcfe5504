using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Load;

/// <summary>
/// What one caller's durable write costs at least: write and fdatasync, one after the other, into a file whose blocks were written
/// before (never-written extents make fdatasync journal).
/// </summary>
internal static partial class BareDisk
{
    private const int FileSize = 64 << 20;

    public static RoundResult Run(string folder, int size, TimeSpan duration)
    {
        var path = Path.Combine(folder, $"corfu-load-{Environment.ProcessId}.tmp");
        try
        {
            using var file = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite);
            var zeros = new byte[1 << 20];
            for (long at = 0; at < FileSize; at += zeros.Length) RandomAccess.Write(file, zeros, at);
            RandomAccess.FlushToDisk(file);
            return Measure(file, size, duration);
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static RoundResult Measure(SafeFileHandle file, int size, TimeSpan duration)
    {
        var data = new byte[size];
        Random.Shared.NextBytes(data);
        var histogram = new LatencyHistogram();
        var start = Stopwatch.GetTimestamp();
        for (long at = 0; Stopwatch.GetElapsedTime(start) < duration; at = at + 2 * size > FileSize ? 0 : at + size)
        {
            var began = Stopwatch.GetTimestamp();
            RandomAccess.Write(file, data, at);
            if (OperatingSystem.IsLinux())
            {
                if (FDataSync(file) != 0) throw new IOException($"fdatasync failed (errno {Marshal.GetLastPInvokeError()}).");
            }
            else
            {
                RandomAccess.FlushToDisk(file);
            }

            histogram.Record((long)Stopwatch.GetElapsedTime(began).TotalNanoseconds);
        }

        return RoundResult.Of(histogram, Stopwatch.GetElapsedTime(start).TotalSeconds, 0);
    }

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FDataSync(SafeFileHandle handle);
}
