using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Layout;

/// <summary>
/// Flushes that report every error: .NET's own ignores EROFS and EINVAL, and cannot open a folder. Elsewhere than on
/// Linux, .NET's flush is used and folders are left to the file system.
/// </summary>
internal static partial class Durability
{
    private const int ReadOnlyFolder = 0x10000 | 0x80000; // O_DIRECTORY | O_CLOEXEC
    private const int Interrupted = 4; // EINTR

    public static void FlushFile(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux()) Check(() => FdataSync(file), "fdatasync");
        else RandomAccess.FlushToDisk(file);
    }

    public static void FlushFolder(string path)
    {
        if (!OperatingSystem.IsLinux()) return;
        using var folder = Open(path, FolderFlags);
        if (folder.IsInvalid) throw Error("open", path);
        Check(() => Fsync(folder), "fsync " + path);
    }

    // O_DIRECTORY has another number on arm.
    private static int FolderFlags =>
        RuntimeInformation.ProcessArchitecture is Architecture.Arm or Architecture.Arm64
            ? 0x4000 | 0x80000
            : ReadOnlyFolder;

    private static void Check(Func<int> call, string what)
    {
        while (call() != 0)
        {
            if (Marshal.GetLastPInvokeError() != Interrupted) throw Error(what, null);
        }
    }

    private static IOException Error(string what, string? path) =>
        new($"{what} {path} failed: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}");

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FdataSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int Fsync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle Open(string path, int flags);
}
