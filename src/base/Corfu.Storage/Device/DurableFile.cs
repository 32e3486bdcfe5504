using System.ComponentModel;
using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Storage;

/// <summary>Writes and flushes that report every error. .NET's own flush ignores EROFS and EINVAL, and cannot flush a
/// directory.</summary>
public static class DurableFile
{
    /// <summary>Follows the path of a file that <see cref="Replace"/> is about to put in place.</summary>
    public const string FreshSuffix = ".new";

    private static bool _canReadCached = OperatingSystem.IsLinux();

    /// <param name="path">The file's, for messages.</param>
    /// <exception cref="IOException">Not all was written.</exception>
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
                var written = Native.PWrite(file, start + done, bytes.Length - done, offset + done);
                if (written > 0) done += written;
                else if (written == 0) throw new IOException($"Cannot write {path}: the file takes no more bytes.");
                else if (!WasInterrupted) throw Error("write", path);
            }
        }
    }

    /// <summary>Makes the content and the length of the file durable before returning.</summary>
    /// <param name="path">The file's, for messages.</param>
    /// <exception cref="IOException">Written data may be lost; a second attempt proves nothing.</exception>
    public static void Sync(SafeFileHandle file, string path)
    {
        if (!OperatingSystem.IsLinux())
        {
            RandomAccess.FlushToDisk(file);
            return;
        }

        while (Native.FDataSync(file) != 0)
        {
            if (!WasInterrupted) throw Error("make durable", path);
        }
    }

    /// <summary>A created, renamed or deleted name is durable only when its directory is.</summary>
    /// <exception cref="IOException">The names may be lost.</exception>
    public static void SyncDirectory(string path)
    {
        if (OperatingSystem.IsWindows()) return;
        using var directory = Native.OpenDirectory(path);
        if (directory.IsInvalid) throw Error("open the directory", path);
        while (Native.FSync(directory) != 0)
        {
            if (!WasInterrupted) throw Error("make durable the directory", path);
        }
    }

    /// <summary>The file appears whole or not at all; it and its name are durable on return. An interrupted call may
    /// leave the fresh file, which the next one overwrites.</summary>
    public static void Replace(string path, ReadOnlySpan<byte> bytes)
    {
        path = Path.GetFullPath(path);
        var fresh = path + FreshSuffix;
        using (var file = File.OpenHandle(fresh, FileMode.Create, FileAccess.Write)) Fill(file, fresh, bytes);
        MoveInPlace(fresh, path);
    }

    /// <summary>As <see cref="Replace"/>, for secrets: the file's user alone may read it, whatever the process's mask
    /// says.</summary>
    public static void ReplacePrivate(string path, ReadOnlySpan<byte> bytes)
    {
        path = Path.GetFullPath(path);
        var fresh = path + FreshSuffix;
        // A file that is there would keep its mode.
        File.Delete(fresh);
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using (var stream = new FileStream(fresh, options)) Fill(stream.SafeFileHandle, fresh, bytes);
        MoveInPlace(fresh, path);
    }

    private static void Fill(SafeFileHandle file, string path, ReadOnlySpan<byte> bytes)
    {
        Write(file, path, bytes, 0);
        Sync(file, path);
    }

    private static void MoveInPlace(string fresh, string path)
    {
        File.Move(fresh, path, overwrite: true);
        SyncDirectory(Path.GetDirectoryName(path)!);
    }

    /// <summary>The numbers N of the files <c>prefixN</c>, ascending.</summary>
    public static IReadOnlyList<long> ListNumbered(string directory, string prefix)
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
                var part = new Native.IoVec { Start = start, Length = buffer.Length };
                var read = Native.PReadV2(file, &part, 1, offset, Native.DoNotWait);
                return read == buffer.Length;
            }
        }
        catch (EntryPointNotFoundException)
        {
            _canReadCached = false;
            return false;
        }
    }

    /// <summary>Whether a write has found no room: it may succeed later, unlike any other.</summary>
    public static bool IsFull(IOException error) => error.HResult is Native.NoSpace or Native.QuotaExceeded;

    private static bool WasInterrupted => Marshal.GetLastPInvokeError() == Native.Interrupted;

    private static IOException Error(string what, string path)
    {
        var errno = Marshal.GetLastPInvokeError();
        return new IOException($"Cannot {what} {path}: {new Win32Exception(errno).Message}.", errno);
    }
}

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
