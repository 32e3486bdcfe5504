using System.Diagnostics;
using System.Runtime.InteropServices;
using Corfu.Protocol;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Load;

/// <summary>
/// Least cost of copying entries from one process's disk to another's. (1) A batch is read from a file. (2) Each entry
/// is sent to an echo server and answered. (3) The batch is written to a new file with fdatasync. Batches overlap as a
/// rebuild's do.
/// </summary>
internal static partial class BareCopy
{
    private const int Batch = 512;
    private const int BatchesInFlight = 4;
    private const long FileSize = 128 << 20;

    /// <returns>Bytes per second.</returns>
    public static async Task<double> RunAsync(string folder, int size, TimeSpan duration)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        var role = BareRole.Parse(await echo.AddressAsync());
        using var transport = role.Connect();
        var (from, to) = (Path.Combine(folder, "bare-from.tmp"), Path.Combine(folder, "bare-to.tmp"));
        try
        {
            using var source = Prepare(from);
            using var target = File.OpenHandle(to, FileMode.Create, FileAccess.Write);
            var began = Stopwatch.GetTimestamp();
            var copied = 0L;
            var next = -1L;
            await Task.WhenAll(Enumerable.Range(0, BatchesInFlight).Select(_ => Task.Run(async () =>
            {
                var buffer = new byte[Batch * size];
                while (Stopwatch.GetElapsedTime(began) < duration)
                {
                    var at = Interlocked.Increment(ref next) * buffer.Length;
                    RandomAccess.Read(source, buffer, at % (FileSize - buffer.Length));
                    await Task.WhenAll(Enumerable.Range(0, Batch).Select(
                        i =>
                            transport.CallAsync(role.Address,
                                new WriteRequest(Epoch.First, buffer.AsMemory(i * size, size)),
                                CancellationToken.None).AsTask()));
                    RandomAccess.Write(target, buffer, at);
                    if (OperatingSystem.IsLinux() && FDataSync(target) != 0)
                        throw new IOException($"fdatasync failed (errno {Marshal.GetLastPInvokeError()}).");
                    Interlocked.Add(ref copied, buffer.Length);
                }
            })));
            return copied / Stopwatch.GetElapsedTime(began).TotalSeconds;
        }
        finally
        {
            File.Delete(from);
            File.Delete(to);
        }
    }

    private static SafeFileHandle Prepare(string path)
    {
        var file = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite);
        var some = new byte[1 << 20];
        Random.Shared.NextBytes(some);
        for (long at = 0; at < FileSize; at += some.Length) RandomAccess.Write(file, some, at);
        RandomAccess.FlushToDisk(file);
        return file;
    }

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FDataSync(SafeFileHandle handle);
}
