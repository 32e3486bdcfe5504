namespace Corfu.Hosting;

/// <summary>The folder of a node that does not run, held against its start while a command changes it.</summary>
internal sealed class StoppedNode : IDisposable
{
    private readonly FolderLock _lock;

    private StoppedNode(string folder, FolderLock folderLock, NodeConfig config)
    {
        Folder = folder;
        _lock = folderLock;
        Config = config;
    }

    public string Folder { get; }

    public NodeConfig Config { get; }

    /// <exception cref="NodeStartException">The node runs, or the folder holds none.</exception>
    public static StoppedNode Open(string folder)
    {
        var full = Path.GetFullPath(folder);
        var path = Path.Combine(full, ClusterFolder.ConfigName);
        if (!File.Exists(path))
            throw new NodeStartException($"There is no node in {full}: {ClusterFolder.ConfigName} is missing.");
        var folderLock = FolderLock.Take(full, FolderUse.Command);
        try
        {
            return new StoppedNode(full, folderLock, DurableFile.ReadJson(path, HostingJson.Default.NodeConfig));
        }
        catch
        {
            folderLock.Dispose();
            throw;
        }
    }

    /// <exception cref="NodeStartException">The configuration is not valid, and nothing has changed.</exception>
    public void Save(NodeConfig config)
    {
        var path = Path.Combine(Folder, ClusterFolder.ConfigName);
        config.ToOptions(path);
        config.Save(path);
    }

    public void Dispose() => _lock.Dispose();
}
