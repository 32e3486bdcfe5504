using System.Globalization;
using System.Runtime.InteropServices;

namespace Corfu.Hosting;

/// <summary>Facts of the operating system about this process and its disks. A number that it does not tell is
/// <see cref="ProcessReport.Unknown"/>; nothing throws.</summary>
internal static partial class HostFacts
{
    private const int StatvfsSize = 256;

    // Fields f_files and f_ffree of struct statvfs on 64-bit Linux, behind two sizes and three counts of blocks.
    private const int FilesOffset = 40;
    private const int FreeFilesOffset = 48;

    public static long OpenFiles() => Or(static () => OperatingSystem.IsLinux()
        ? Directory.EnumerateFileSystemEntries("/proc/self/fd").LongCount()
        : ProcessReport.Unknown);

    /// <summary>The soft limit, which counts.</summary>
    public static long OpenFileLimit() =>
        NumberIn("/proc/self/limits", "Max open files", static words => words[3]);

    /// <summary>The limit of the control group if there is one, else the machine's memory.</summary>
    public static long MemoryLimit() => GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;

    public static long Swapped() => NumberIn("/proc/self/status", "VmSwap:", static words => words[1]) is var kib
        && kib >= 0 ? kib << 10 : ProcessReport.Unknown;

    public static DiskReport DiskOf(string folder)
    {
        var (inodes, free) = InodesOf(folder);
        try
        {
            var drive = new DriveInfo(folder);
            return new DiskReport(folder, drive.DriveFormat, drive.TotalSize, drive.AvailableFreeSpace, inodes, free);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return new DiskReport(folder, "", ProcessReport.Unknown, ProcessReport.Unknown, inodes, free);
        }
    }

    private static (long All, long Free) InodesOf(string folder)
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return (ProcessReport.Unknown, ProcessReport.Unknown);
        Span<byte> facts = stackalloc byte[StatvfsSize];
        return Statvfs(folder, ref MemoryMarshal.GetReference(facts)) == 0
            ? (MemoryMarshal.Read<long>(facts[FilesOffset..]), MemoryMarshal.Read<long>(facts[FreeFilesOffset..]))
            : (ProcessReport.Unknown, ProcessReport.Unknown);
    }

    // A line of words; an unlimited number is as good as an unknown one.
    private static long NumberIn(string file, string prefix, Func<string[], string> word) => Or(() =>
    {
        if (!File.Exists(file)) return ProcessReport.Unknown;
        var line = File.ReadLines(file).FirstOrDefault(line => line.StartsWith(prefix, StringComparison.Ordinal));
        var words = line?.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        return words is not null && long.TryParse(word(words), CultureInfo.InvariantCulture, out var number)
            ? number
            : ProcessReport.Unknown;
    });

    private static long Or(Func<long> read)
    {
        try
        {
            return read();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or IndexOutOfRangeException)
        {
            return ProcessReport.Unknown;
        }
    }

    [LibraryImport("libc", EntryPoint = "statvfs", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Statvfs(string path, ref byte facts);
}
