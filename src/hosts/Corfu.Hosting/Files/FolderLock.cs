using System.Globalization;

namespace Corfu.Hosting;

/// <summary>Lets a single process at a time work in a folder. The operating system drops the lock with the process,
/// however it ends, so a lock left behind by a kill never has to be removed by hand.</summary>
internal sealed class FolderLock(FileStream locked) : IDisposable
{
    internal const string LockName = ".lock";
    internal const string OwnerName = ".owner";

    /// <exception cref="NodeStartException">In use, or not writable.</exception>
    public static FolderLock Take(string folder, FolderUse use)
    {
        FileStream file;
        try
        {
            file = new FileStream(Path.Combine(folder, LockName), FileMode.OpenOrCreate, FileAccess.ReadWrite,
                FileShare.None);
        }
        catch (DirectoryNotFoundException e)
        {
            throw new NodeStartException($"The folder {folder} does not exist.", e);
        }
        catch (UnauthorizedAccessException e)
        {
            throw new NodeStartException($"The folder {folder} is not writable: {e.Message}", e);
        }
        catch (IOException e) when (IsReadOnly(e))
        {
            throw new NodeStartException($"The folder {folder} is on a read-only file system.", e);
        }
        catch (IOException e)
        {
            throw new NodeStartException($"The folder {folder} is in use by another process{Owner(folder)}.", e);
        }

        File.WriteAllText(Path.Combine(folder, OwnerName),
            string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId} {use}\n"));
        return new FolderLock(file);
    }

    /// <summary>Who holds the folder now, or null. The answer may be outdated when it arrives.</summary>
    public static FolderOwner? OwnerOf(string folder)
    {
        if (!File.Exists(Path.Combine(folder, LockName))) return null;
        try
        {
            using var free = new FileStream(Path.Combine(folder, LockName), FileMode.Open, FileAccess.ReadWrite,
                FileShare.None);
            return null;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        catch (IOException)
        {
            return ReadOwner(folder);
        }
    }

    public void Dispose() => locked.Dispose();

    private static bool IsReadOnly(IOException e)
    {
        const int ErofsAsHResult = 30;
        return e.HResult == ErofsAsHResult || e.Message.Contains("Read-only", StringComparison.OrdinalIgnoreCase);
    }

    private static string Owner(string folder) =>
        ReadOwner(folder) is { ProcessId: > 0 } owner ? $" (process {owner.ProcessId})" : "";

    private static FolderOwner ReadOwner(string folder)
    {
        try
        {
            var parts = File.ReadAllText(Path.Combine(folder, OwnerName)).Split(' ', StringSplitOptions.TrimEntries);
            if (parts.Length == 2 && int.TryParse(parts[0], CultureInfo.InvariantCulture, out var id)
                && Enum.TryParse<FolderUse>(parts[1], out var use))
                return new FolderOwner(id, use);
        }
        catch (IOException)
        {
            // Between the lock and the note beside it.
        }

        return new FolderOwner(0, FolderUse.Node);
    }
}

/// <summary>The kind of a folder's holder.</summary>
internal enum FolderUse
{
    /// <summary>A node process of its own.</summary>
    Node,

    /// <summary>A process that embeds the whole cluster and does other things too.</summary>
    Embedded,

    /// <summary>A command that is about to change what runs there.</summary>
    Command,
}

/// <param name="ProcessId">0 when it is not known yet.</param>
internal readonly record struct FolderOwner(int ProcessId, FolderUse Use);
