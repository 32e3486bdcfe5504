using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Storage;

/// <summary>The system calls that .NET lacks, or makes without telling every error.</summary>
internal static partial class Native
{
    public const int Interrupted = 4; // EINTR
    public const int NoSpace = 28; // ENOSPC
    public const int QuotaExceeded = 122; // EDQUOT
    public const int DoNotWait = 8; // RWF_NOWAIT

    // O_CLOEXEC on Linux: a process that is started meanwhile does not keep the directory open.
    private const int CloseOnExec = 0x80000;

    public static SafeFileHandle OpenDirectory(string path) => Open(path, OperatingSystem.IsLinux() ? CloseOnExec : 0);

    [LibraryImport("libc", EntryPoint = "pwrite", SetLastError = true)]
    public static unsafe partial nint PWrite(SafeFileHandle file, byte* bytes, nint count, long offset);

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    public static partial int FDataSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    public static partial int FSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "preadv2", SetLastError = true)]
    public static unsafe partial nint PReadV2(SafeFileHandle file, IoVec* parts, int count, long offset, int flags);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle Open(string path, int flags);

    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct IoVec
    {
        public byte* Start;
        public nint Length;
    }
}
