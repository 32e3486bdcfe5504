using System.ComponentModel;
using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Storage;

/// <summary>The system calls behind durability. .NET's own flush ignores EROFS and EINVAL and cannot flush a directory;
/// here every error is an exception.</summary>
public static partial class Native
{
    private const int Eintr = 4;
    private const int Enospc = 28;
    private const int Edquot = 122;
    private const int RwfNowait = 8;
    private const int OpenDirectory = 0x10000 | 0x80000; // O_RDONLY | O_DIRECTORY | O_CLOEXEC

    // x64 and arm64 Linux number O_DIRECTORY differently.
    private const int OpenDirectoryArm64 = 0x4000 | 0x80000;

    private static bool _canReadCached = OperatingSystem.IsLinux();

    public static unsafe void Write(SafeFileHandle file, string path, ReadOnlySpan<byte> bytes, long offset)
    {
        if (!OperatingSystem.IsLinux())
        {
            RandomAccess.Write(file, bytes, offset);
            return;
        }

        fixed (byte* start = bytes)
        {
            nint done = 0;
            while (done < bytes.Length)
            {
                var written = PWrite(file, start + done, bytes.Length - done, offset + done);
                if (written > 0) done += written;
                else if (written == 0) throw new IOException($"Cannot write {path}: the file takes no more bytes.");
                else if (Marshal.GetLastPInvokeError() != Eintr) throw Error("write", path);
            }
        }
    }

    public static void SyncData(SafeFileHandle file, string path)
    {
        if (!OperatingSystem.IsLinux())
        {
            RandomAccess.FlushToDisk(file);
            return;
        }

        while (FDataSync(file) != 0)
        {
            if (Marshal.GetLastPInvokeError() != Eintr) throw Error("make durable", path);
        }
    }

    /// <summary>A created, renamed or deleted name is durable only when its directory is.</summary>
    public static void SyncDirectory(string path)
    {
        if (!OperatingSystem.IsLinux()) return;
        var flags = RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm
            ? OpenDirectoryArm64
            : OpenDirectory;
        using var directory = Open(path, flags);
        if (directory.IsInvalid || FSync(directory) != 0) throw Error("make durable the directory", path);
    }

    /// <summary>The file appears whole or not at all; its name is durable when its directory is.</summary>
    /// <param name="fresh">A path in the same directory, for the time of writing.</param>
    public static void Replace(string path, string fresh, ReadOnlySpan<byte> bytes)
    {
        using (var file = File.OpenHandle(fresh, FileMode.Create, FileAccess.Write))
        {
            Write(file, fresh, bytes, 0);
            SyncData(file, fresh);
        }

        File.Move(fresh, path, overwrite: true);
    }

    /// <summary>The numbers N of the files <c>prefixN</c>, ascending.</summary>
    public static List<long> ListNumbered(string directory, string prefix)
    {
        var numbers = new List<long>();
        foreach (var path in Directory.GetFiles(directory, prefix + "*"))
        {
            var text = Path.GetFileName(path.AsSpan())[prefix.Length..];
            if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number))
                numbers.Add(number);
        }

        numbers.Sort();
        return numbers;
    }

    /// <summary>False if the bytes are not in memory, or the system cannot tell.</summary>
    public static unsafe bool TryReadCached(SafeFileHandle file, Span<byte> buffer, long offset)
    {
        if (!_canReadCached) return false;
        try
        {
            fixed (byte* start = buffer)
            {
                var part = new IoVec { Start = start, Length = buffer.Length };
                var read = PReadV2(file, &part, 1, offset, RwfNowait);
                return read == buffer.Length;
            }
        }
        catch (EntryPointNotFoundException)
        {
            _canReadCached = false;
            return false;
        }
    }

    public static bool IsFull(IOException error) => error.HResult is Enospc or Edquot;

    private static IOException Error(string what, string path)
    {
        var errno = Marshal.GetLastPInvokeError();
        return new IOException($"Cannot {what} {path}: {new Win32Exception(errno).Message}.", errno);
    }

    [LibraryImport("libc", EntryPoint = "pwrite", SetLastError = true)]
    private static unsafe partial nint PWrite(SafeFileHandle file, byte* bytes, nint count, long offset);

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FDataSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int FSync(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "preadv2", SetLastError = true)]
    private static unsafe partial nint PReadV2(SafeFileHandle file, IoVec* parts, int count, long offset, int flags);

    [StructLayout(LayoutKind.Sequential)]
    private unsafe struct IoVec
    {
        public byte* Start;
        public nint Length;
    }
}
