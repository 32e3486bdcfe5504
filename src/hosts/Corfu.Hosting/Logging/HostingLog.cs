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

    [LoggerMessage(20, LogLevel.Warning,
        "The audit file cannot be written, and nothing waits for it: {Why} Make room, or mend the folder's mode.")]
    public static partial void AuditFailed(ILogger logger, string why);

    [LoggerMessage(21, LogLevel.Information, "The audit file is written again.")]
    public static partial void AuditWritten(ILogger logger);

    [LoggerMessage(22, LogLevel.Warning,
        "The node runs as root: a fault in it is a fault of the whole machine. Run it under a user of its own.")]
    public static partial void AsRoot(ILogger logger);

    [LoggerMessage(23, LogLevel.Information, "{Name} has taken its configuration anew: {Changes}")]
    public static partial void Reloaded(ILogger logger, string name, string changes);

    [LoggerMessage(24, LogLevel.Warning, "{Name} keeps the configuration that it has: {Fault}")]
    public static partial void NotReloaded(ILogger logger, string name, string fault);

    [LoggerMessage(11, LogLevel.Warning, "{Name}: its roles cannot be looked after: {Why}")]
    public static partial void KeeperFailed(ILogger logger, string name, string why);
}
