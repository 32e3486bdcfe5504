using Microsoft.Extensions.Logging;

namespace Corfu.Client;

internal static partial class ClientLog
{
    [LoggerMessage(1, LogLevel.Information, "Projection {Projection} ({Reason})")]
    public static partial void Adopted(ILogger logger, string projection, string reason);

    [LoggerMessage(2, LogLevel.Warning, "{Epoch} is sealed without a successor: proposing the same membership")]
    public static partial void ProposingSame(ILogger logger, string epoch);

    [LoggerMessage(3, LogLevel.Error, "Data loss: {Position} is committed but {Unit} says {State}")]
    public static partial void DataLoss(ILogger logger, string position, string unit, string state);

    [LoggerMessage(4, LogLevel.Warning, "Cannot learn the newest projection: {Reason}")]
    public static partial void NoProjection(ILogger logger, string reason);

    [LoggerMessage(5, LogLevel.Error, "{Position} differs between the replicas of its chain")]
    public static partial void Diverged(ILogger logger, string position);

    [LoggerMessage(7, LogLevel.Warning, "{Position} given back to {Unit}, which had it {State}")]
    public static partial void Repaired(ILogger logger, string position, string unit, string state);

    [LoggerMessage(
        8, LogLevel.Error, "{Position} has no good copy left: remove the units that hold it damaged, or trim it")]
    public static partial void Unrecoverable(ILogger logger, string position);

    [LoggerMessage(9, LogLevel.Warning, "{Position} could not be mended: {Reason}")]
    public static partial void NotRepaired(ILogger logger, string position, string reason);

    [LoggerMessage(6, LogLevel.Warning, "{Epoch} is not installed at {Node}: {Reason}")]
    public static partial void NotInstalled(ILogger logger, string epoch, string node, string reason);

    [LoggerMessage(
        10, LogLevel.Warning,
        "Sequencer {Sequencer} does not say how much it has granted ({Reason}): positions that only destroyed units "
        + "know may be granted again")]
    public static partial void TailNotKnown(ILogger logger, string sequencer, string reason);
}
