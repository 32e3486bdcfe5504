using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

internal static partial class HostingLog
{
    [LoggerMessage(1, LogLevel.Information, "{Name} serves {Role} {Id} at {Endpoint}.")]
    public static partial void Serving(ILogger logger, string name, NodeRole role, NodeId id, NodeEndpoint endpoint);

    [LoggerMessage(2, LogLevel.Information, "{Name} stops.")]
    public static partial void Stopping(ILogger logger, string name);

    [LoggerMessage(3, LogLevel.Information, "The cluster {Cluster} was bootstrapped in epoch {Epoch} with the sequencer {Sequencer}.")]
    public static partial void Bootstrapped(ILogger logger, ClusterId cluster, Epoch epoch, NodeId sequencer);

    [LoggerMessage(4, LogLevel.Information, "The sequencer {Sequencer} takes over in epoch {Epoch}.")]
    public static partial void SequencerReplaced(ILogger logger, NodeId sequencer, Epoch epoch);

    [LoggerMessage(5, LogLevel.Critical, "{Fault}")]
    public static partial void RoleFailed(ILogger logger, string fault);
}
