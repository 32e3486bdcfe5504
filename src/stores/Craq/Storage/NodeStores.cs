namespace Craq.Storage;

/// <summary>Makes stores.</summary>
internal static class NodeStores
{
    /// <summary>The index's folder within a store's: all of it may be deleted while the node is stopped.</summary>
    public const string IndexName = "index";

    public const string LogName = "log";

    /// <summary>On FASTER, with a thread for each worker, in a folder that the caller has formatted for this node and
    /// holds locked: <c>log/</c> has the segments and the mark, <c>index/</c> the index and its checkpoints.</summary>
    /// <param name="mustExist">The node has served before: a missing log means that its data is gone.</param>
    /// <exception cref="LogDamagedException">The log is gone (C19).</exception>
    public static INodeStore OpenFolder(string folder, NodeId node, NodeStoreOptions options, bool mustExist)
    {
        var log = Path.Combine(folder, LogName);
        if (mustExist && !File.Exists(Path.Combine(log, "mark")))
        {
            throw new LogDamagedException($"{folder} has lost the log of node {node}. {NodeScanRules.Remedy}", 0);
        }

        return OnFaster(new DirectorySegmentFiles(log), node, options, Path.Combine(folder, IndexName));
    }

    /// <summary>On FASTER, over other files.</summary>
    public static NodeStore OnFaster(ISegmentFiles files, NodeId node, NodeStoreOptions options, string indexFolder) =>
        new(files, static (f, space, sizes) => new FasterRecordLog(f, space, sizes),
            new FasterAddressMaps<ObjectHash, ObjectEntry>(indexFolder, options.Index, static hash => (long)hash.Low),
            ThreadWorkers.Instance, node, options);

    /// <summary>On other ports.</summary>
    public static NodeStore On(ISegmentFiles files, OpenRecordLog log, IAddressMaps<ObjectHash, ObjectEntry> maps,
        IWorkers workers, NodeId node, NodeStoreOptions options) => new(files, log, maps, workers, node, options);
}
