namespace Corfu.Hosting;

/// <summary>The folder of a node that does not run, held against its start while a command changes it.</summary>
internal sealed class StoppedNode(string folder, FolderLock folderLock, NodeConfig config) : IDisposable
{
    public string Folder => folder;

    public NodeConfig Config => config;

    /// <exception cref="NodeStartException">The node runs, or the folder holds none.</exception>
    public static StoppedNode Open(string path)
    {
        var full = Path.GetFullPath(path);
        var file = Path.Combine(full, ClusterFolder.ConfigName);
        if (!File.Exists(file))
            throw new NodeStartException($"There is no node in {full}: {ClusterFolder.ConfigName} is missing.");
        var held = FolderLock.Take(full, FolderUse.Command);
        try
        {
            return new StoppedNode(full, held, JsonFile.Read(file, HostingJson.Default.NodeConfig));
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <exception cref="NodeStartException">The configuration is not valid, and nothing has changed.</exception>
    public void Save(NodeConfig changed)
    {
        var file = Path.Combine(folder, ClusterFolder.ConfigName);
        // A program with further roles runs the node; this command leaves them as they are.
        changed.ToOptions(file, skipsUnknown: true);
        changed.Save(file);
    }

    public void Dispose() => folderLock.Dispose();
}
