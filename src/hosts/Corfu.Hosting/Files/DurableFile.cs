using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Corfu.Hosting;

/// <summary>Small files that are there whole, with their directory entry, or not at all.</summary>
internal static partial class DurableFile
{
    // O_CLOEXEC on Linux: a process that is started meanwhile does not keep the folder open.
    private const int CloseOnExec = 0x80000;

    public static void WriteJson<T>(string path, T value, JsonTypeInfo<T> type)
    {
        var temporary = path + ".new";
        using (var stream = new FileStream(temporary, FileMode.Create, FileAccess.Write))
        {
            JsonSerializer.Serialize(stream, value, type);
            stream.Write("\n"u8);
            stream.Flush(flushToDisk: true);
        }

        File.Move(temporary, path, overwrite: true);
        SyncDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
    }

    /// <exception cref="NodeStartException">Not there, or not what it should be.</exception>
    public static T ReadJson<T>(string path, JsonTypeInfo<T> type)
    {
        try
        {
            using var stream = File.OpenRead(path);
            return JsonSerializer.Deserialize(stream, type)
                ?? throw new NodeStartException($"The file {path} is empty.");
        }
        catch (JsonException e)
        {
            throw new NodeStartException($"The file {path} is not valid: {e.Message}", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The file {path} cannot be read: {e.Message}", e);
        }
    }

    /// <summary>A rename or a new file survives a power cut only when its directory is synced too; .NET has no call for
    /// that.</summary>
    public static void SyncDirectory(string path)
    {
        if (OperatingSystem.IsWindows()) return;
        var handle = Open(path, OperatingSystem.IsLinux() ? CloseOnExec : 0);
        if (handle < 0)
            throw new IOException(
                $"The folder {path} cannot be opened for a sync (errno {Marshal.GetLastPInvokeError()}).");
        try
        {
            if (FSync(handle) != 0)
                throw new IOException($"The folder {path} cannot be synced (errno {Marshal.GetLastPInvokeError()}).");
        }
        finally
        {
            _ = Close(handle);
        }
    }

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int FSync(int handle);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    private static partial int Close(int handle);
}
