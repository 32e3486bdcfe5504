namespace Corfu.Hosting;

internal static partial class HostingLog
{
    [LoggerMessage(1, LogLevel.Information, "{Name} serves {Role} {Id} at {Endpoint}.")]
    public static partial void Serving(ILogger logger, string name, string role, NodeId id, NodeEndpoint endpoint);

    [LoggerMessage(2, LogLevel.Information, "{Name} stops.")]
    public static partial void Stopping(ILogger logger, string name);

    [LoggerMessage(3, LogLevel.Information,
        "The cluster {Cluster} was bootstrapped in epoch {Epoch} with the sequencer {Sequencer}.")]
    public static partial void Bootstrapped(ILogger logger, ClusterId cluster, Epoch epoch, NodeId sequencer);

    [LoggerMessage(4, LogLevel.Information, "The sequencer {Sequencer} takes over in epoch {Epoch}.")]
    public static partial void SequencerReplaced(ILogger logger, NodeId sequencer, Epoch epoch);

    [LoggerMessage(5, LogLevel.Critical, "{Fault}")]
    public static partial void RoleFailed(ILogger logger, string fault);

    [LoggerMessage(8, LogLevel.Warning,
        "{Name}: {Role} {Id} is not in the cluster any more ({Epoch}) and serves no longer.")]
    public static partial void Removed(ILogger logger, string name, string role, NodeId id, Epoch epoch);

    [LoggerMessage(9, LogLevel.Information, "{Name}: {Role} {Id} waits as a spare, in a new folder, after {Old}.")]
    public static partial void Reformatted(ILogger logger, string name, string role, NodeId id, NodeId old);

    [LoggerMessage(10, LogLevel.Information,
        "Deleted {Folder}: every range that it held has all its replicas, or is trimmed.")]
    public static partial void KeptDeleted(ILogger logger, string folder);

    [LoggerMessage(11, LogLevel.Warning, "{Name}: its roles cannot be looked after: {Why}")]
    public static partial void KeeperFailed(ILogger logger, string name, string why);
}
