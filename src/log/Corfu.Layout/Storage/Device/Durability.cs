using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Layout;

/// <summary>Flushes that report every error: .NET's own ignores EROFS and EINVAL, and cannot open a folder. Elsewhere
/// than on Linux, files get .NET's flush and folders none.</summary>
internal static partial class Durability
{
    private const int CloseOnExec = 0x80000; // O_CLOEXEC
    private const int Interrupted = 4; // EINTR

    // O_DIRECTORY has another number on arm.
    private static readonly int FolderFlags = CloseOnExec
        | (RuntimeInformation.ProcessArchitecture is Architecture.Arm or Architecture.Arm64 ? 0x4000 : 0x10000);

    public static void FlushFile(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux()) Check(() => FdataSync(file), "fdatasync");
        else RandomAccess.FlushToDisk(file);
    }

    public static void FlushFolder(string path)
    {
        if (!OperatingSystem.IsLinux()) return;
        using var folder = Open(path, FolderFlags);
        if (folder.IsInvalid) throw Error("open " + path);
        Check(() => Fsync(folder), "fsync " + path);
    }

    private static void Check(Func<int> call, string what)
    {
        while (call() != 0)
        {
            if (Marshal.GetLastPInvokeError() != Interrupted) throw Error(what);
        }
    }

    private static IOException Error(string what) =>
        new($"{what} failed: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}");

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FdataSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int Fsync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle Open(string path, int flags);
}
