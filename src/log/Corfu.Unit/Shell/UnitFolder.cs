using System.Text;

namespace Corfu.Unit;

/// <summary>The data folder of one unit, held exclusively: <c>identity</c>, <c>lock</c>, <c>log/</c> (segments and
/// mark), <c>map/</c> (the address map and its checkpoints).</summary>
internal sealed class UnitFolder : IDisposable
{
    public const string IdentityName = "identity";
    public const string LockName = "lock";
    public const string LogName = "log";
    private const string MarkName = "mark";

    private readonly string _path;
    private readonly FileStream _lock;

    private UnitFolder(string path, UnitIdentity identity, FileStream held)
    {
        _path = path;
        Identity = identity;
        _lock = held;
    }

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
        path = Path.GetFullPath(path);
        FileStream? held = null;
        try
        {
            PrivateFolder.Create(path);
            held = Hold(path);
            var identityPath = Path.Combine(path, IdentityName);
            if (!File.Exists(identityPath))
            {
                // R2: an identity never restarts empty.
                if (mustExist)
                    throw Lost($"{path} holds no unit any more, but one has served from it: its data is gone.");
                var id = unit.IsNone ? new NodeId(entropy.NewGuid()) : unit;
                Format(path, identityPath, new UnitIdentity(id, cluster, store));
            }

            // An earlier process may have been killed before it made these names durable.
            DurableFile.SyncDirectory(path);
            if (Path.GetDirectoryName(path) is { Length: > 0 } parent) DurableFile.SyncDirectory(parent);
            if (!File.Exists(Path.Combine(path, LogName, MarkName)))
                throw Lost($"{path} has lost its log. Rebuild this unit from its replicas on a new folder.");
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

    public PageStore OpenStore() => PageStore.OnFaster(new DirectorySegmentFiles(Path.Combine(_path, LogName)),
        Identity.Unit, Identity.Store, Path.Combine(_path, "map"));

    public void Dispose() => _lock.Dispose();

    private static UnitFolderException Lost(string message) => new(message) { IsLoss = true };

    private static FileStream Hold(string path)
    {
        var lockPath = Path.Combine(path, LockName);
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
        var foreign = Directory.EnumerateFileSystemEntries(path).Select(Path.GetFileName).FirstOrDefault(name =>
            name is not (LockName or IdentityName + DurableFile.FreshSuffix) && !(name == LogName && IsFresh(path)));
        if (foreign is not null)
            throw new UnitFolderException(
                $"{path} is not empty ('{foreign}') and holds no unit identity: refusing to format it.");
        // Before the identity: once that exists, a missing log is a lost one.
        new DirectorySegmentFiles(Path.Combine(path, LogName)).Dispose();
        DurableFile.Replace(identityPath, Encoding.UTF8.GetBytes(identity.ToText()));
    }

    // An interrupted formatting leaves a log folder with an empty mark and nothing else.
    private static bool IsFresh(string path) =>
        new DirectoryInfo(Path.Combine(path, LogName)).EnumerateFileSystemInfos()
            .All(e => e is FileInfo { Name: MarkName, Length: 0 });
}

/// <summary>A unit's data folder cannot be used; the message says why and is meant for the operator.</summary>
public sealed class UnitFolderException(string message, Exception? inner = null) : CorfuException(message, inner)
{
    /// <summary>The unit's data is gone, so it can never serve again under its identity.</summary>
    public bool IsLoss { get; init; }
}
