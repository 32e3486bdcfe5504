namespace Corfu.Hosting;

/// <summary>The formatted, locked folder of one unit or acceptor.</summary>
internal sealed class RoleFolder(string path, FolderIdentity identity, FolderLock folderLock) : IDisposable
{
    public const string IdentityName = "identity.json";

    private FolderIdentity _identity = identity;

    public string Path => path;

    public NodeId Id => new(_identity.Id);

    /// <summary>Whether the role has ever served from this folder.</summary>
    public bool WasOpened => _identity.Opened;

    /// <inheritdoc cref="FolderIdentity.Named"/>
    public Epoch Named => new(_identity.Named);

    /// <summary>Gives an empty or new folder its identity. Doing it again with the same identity changes
    /// nothing.</summary>
    /// <exception cref="NodeStartException">The folder holds something else.</exception>
    public static void Format(string path, ClusterId cluster, string role, NodeId id)
    {
        try
        {
            PrivateFolder.Create(path);
            var file = System.IO.Path.Combine(path, IdentityName);
            if (File.Exists(file))
            {
                Check(path, cluster, role, id);
                return;
            }

            if (Directory.EnumerateFileSystemEntries(path)
                .Any(entry => !entry.EndsWith(IdentityName + DurableFile.FreshSuffix, StringComparison.Ordinal)))
                throw new NodeStartException(
                    $"The folder {path} is not empty and holds no Corfu {role.ToLowerInvariant()}.");
            JsonFile.Write(
                file, new FolderIdentity(FolderIdentity.CurrentFormat, cluster.Value, role, id.Value, false),
                HostingJson.Default.FolderIdentity);
            DurableFile.SyncDirectory(System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(path))!);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The folder {path} cannot be made: {e.Message}", e);
        }
    }

    /// <summary>Locks the folder and checks whose it is. <paramref name="expected"/> may be
    /// <see cref="NodeId.None"/>.</summary>
    public static RoleFolder Open(string path, ClusterId cluster, string role, NodeId expected)
    {
        var held = FolderLock.Take(path, FolderUse.Node);
        try
        {
            // R2: that it is there, and was opened, may be known only because a killed process wrote so and did not
            // come to sync it.
            DurableFile.SyncDirectory(path);
            DurableFile.SyncDirectory(System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(path))!);
            return new RoleFolder(path, Check(path, cluster, role, expected), held);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    public static bool IsFormatted(string path) => File.Exists(System.IO.Path.Combine(path, IdentityName));

    /// <summary>The identity that a folder was formatted with; null if it was not.</summary>
    public static Guid? IdentityOf(string path) => IsFormatted(path)
        ? JsonFile.Read(System.IO.Path.Combine(path, IdentityName), HostingJson.Default.FolderIdentity).Id
        : null;

    /// <summary>Durable on return: nothing may be served before.</summary>
    public void MarkOpened()
    {
        if (_identity.Opened) return;
        Save(_identity with { Opened = true });
    }

    /// <summary>Remembers, durably, that a decided projection names the role.</summary>
    public void MarkNamed(Epoch epoch)
    {
        if (_identity.Named > 0) return;
        Save(_identity with { Named = epoch.Value });
    }

    public void Dispose() => folderLock.Dispose();

    private void Save(FolderIdentity changed)
    {
        JsonFile.Write(System.IO.Path.Combine(path, IdentityName), changed, HostingJson.Default.FolderIdentity);
        _identity = changed;
    }

    private static FolderIdentity Check(string path, ClusterId cluster, string role, NodeId expected)
    {
        var file = System.IO.Path.Combine(path, IdentityName);
        if (!File.Exists(file))
            throw new NodeStartException($"The folder {path} was never formatted: {IdentityName} is missing.");
        var identity = JsonFile.Read(file, HostingJson.Default.FolderIdentity);
        if (identity.Format != FolderIdentity.CurrentFormat)
            throw new NodeStartException(
                $"The folder {path} has format {identity.Format}; this version reads {FolderIdentity.CurrentFormat}.");
        if (identity.Cluster != cluster.Value)
            throw new NodeStartException(
                $"The folder {path} belongs to the cluster {identity.Cluster}, not {cluster}.");
        if (!string.Equals(identity.Role, role, StringComparison.OrdinalIgnoreCase))
            throw new NodeStartException($"The folder {path} belongs to a {identity.Role}, not a {role}.");
        // R2: what another identity stored must never be served under this one.
        if (!expected.IsNone && identity.Id != expected.Value)
            throw new NodeStartException($"The folder {path} belongs to {identity.Id}, not {expected}.");
        return identity;
    }
}
