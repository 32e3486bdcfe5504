using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The data folder of one unit, held exclusively: <c>identity</c>, <c>lock</c>, <c>log/</c> (segments and mark),
/// <c>map/</c> (scratch, deleted at every start).
/// </summary>
internal sealed class UnitFolder : IDisposable
{
    private const string IdentityName = "identity";
    private const string LockName = "lock";
    private const string LogName = "log";
    private const string MarkName = "mark";

    private readonly FileStream _lock;

    private UnitFolder(string path, UnitIdentity identity, FileStream @lock)
    {
        Path = path;
        Identity = identity;
        _lock = @lock;
    }

    public string Path { get; }

    public UnitIdentity Identity { get; }

    /// <summary>Opens a folder, formatting it first if it is empty or does not exist, unless
    /// <paramref name="mustExist"/>.</summary>
    /// <param name="unit">The identity to format with, and to insist on; none draws one at formatting and accepts any
    /// later.</param>
    /// <param name="cluster">Which cluster the unit belongs to; written at formatting, compared later. None accepts
    /// any.</param>
    /// <param name="mustExist">The unit has served before: an empty folder now means that its data is gone.</param>
    /// <exception cref="UnitFolderException">In use by another process, not writable, another unit's or cluster's, or
    /// damaged.</exception>
    public static UnitFolder Open(string path, NodeId unit, ClusterId cluster, IEntropy entropy, PageStoreOptions store,
        bool mustExist = false)
    {
        path = System.IO.Path.GetFullPath(path);
        FileStream? held = null;
        try
        {
            Directory.CreateDirectory(path);
            held = Hold(path);
            var identityPath = System.IO.Path.Combine(path, IdentityName);
            if (!File.Exists(identityPath))
            {
                // R2: an identity never restarts empty.
                if (mustExist)
                    throw new UnitFolderException(
                        $"{path} holds no unit any more, but one has served from it: its data is gone.")
                    { IsLoss = true };
                Format(path, identityPath,
                    new UnitIdentity(unit.IsNone ? new NodeId(entropy.NewGuid()) : unit, cluster, store));
            }

            // Also of an earlier process, which may have been killed before it did.
            Native.SyncDirectory(path);
            if (System.IO.Path.GetDirectoryName(path) is { Length: > 0 } parent) Native.SyncDirectory(parent);
            if (!File.Exists(System.IO.Path.Combine(path, LogName, MarkName)))
                throw new UnitFolderException(
                    $"{path} has lost its log. Rebuild this unit from its replicas on a new folder.")
                { IsLoss = true };
            var identity = UnitIdentity.Parse(File.ReadAllText(identityPath), identityPath, store);
            if (!cluster.IsNone && !identity.Cluster.IsNone && identity.Cluster != cluster)
                throw new UnitFolderException(
                    $"{path} belongs to a unit of cluster {identity.Cluster}, not of {cluster}.");
            // R2: what another identity stored must never be served under this one.
            if (!unit.IsNone && identity.Unit != unit)
                throw new UnitFolderException($"{path} belongs to unit {identity.Unit}, not to {unit}.");
            return new UnitFolder(path, identity, held);
        }
        catch (Exception error)
        {
            held?.Dispose();
            if (error is UnauthorizedAccessException or IOException)
                throw new UnitFolderException($"The unit's data folder {path} cannot be written: {error.Message}",
                    error);
            throw;
        }
    }

    public PageStore OpenStore() => PageStore.OnFaster(
        new DirectorySegmentFiles(System.IO.Path.Combine(Path, LogName)),
        Identity.Unit,
        Identity.Store,
        System.IO.Path.Combine(Path, "map"));

    public void Dispose() => _lock.Dispose();

    private static FileStream Hold(string path)
    {
        var lockPath = System.IO.Path.Combine(path, LockName);
        try
        {
            return new FileStream(lockPath, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (IOException error)
            when (File.Exists(lockPath) && error is not (FileNotFoundException or DirectoryNotFoundException)
                && IsHeld(error))
        {
            throw new UnitFolderException($"The unit's data folder {path} is in use by another process.", error);
        }
    }

    // EWOULDBLOCK as .NET reports it (the errno on Unix, a sharing violation on Windows).
    private static bool IsHeld(IOException error) => (error.HResult & 0xFFFF) is 11 or 32 or 35;

    private static void Format(string path, string identityPath, UnitIdentity identity)
    {
        var foreign = Directory.EnumerateFileSystemEntries(path).Select(System.IO.Path.GetFileName)
            .FirstOrDefault(
                name => name is not (LockName or IdentityName + ".new") && !(name == LogName && IsFresh(path)));
        if (foreign is not null)
            throw new UnitFolderException(
                $"{path} is not empty ('{foreign}') and holds no unit identity: refusing to format it.");
        // From here on a log that is missing is a log that was lost.
        new DirectorySegmentFiles(System.IO.Path.Combine(path, LogName)).Dispose();
        // The identity appears whole or not at all.
        var fresh = identityPath + ".new";
        using (var file = File.OpenHandle(fresh, FileMode.Create, FileAccess.Write))
        {
            Native.Write(file, fresh, System.Text.Encoding.UTF8.GetBytes(identity.ToText()), 0);
            Native.SyncData(file, fresh);
        }

        File.Move(fresh, identityPath, overwrite: true);
    }

    // What an interrupted formatting leaves: a log folder with nothing in it but an empty mark.
    private static bool IsFresh(string path) =>
        new DirectoryInfo(System.IO.Path.Combine(path, LogName)).EnumerateFileSystemInfos()
            .All(e => e is FileInfo { Name: MarkName, Length: 0 });
}
