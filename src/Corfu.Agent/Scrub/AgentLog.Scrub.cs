using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

internal static partial class AgentLog
{
    [LoggerMessage(30, LogLevel.Information,
        "Scrub {Pass}: {Sound} positions sound, {Mended} mended, {Unrecoverable} without a good copy")]
    public static partial void Scrubbed(ILogger logger, int pass, long sound, long mended, long unrecoverable);

    [LoggerMessage(31, LogLevel.Warning, "The scrub waits: {Reason}")]
    public static partial void ScrubWaits(ILogger logger, string reason);

    [LoggerMessage(32, LogLevel.Error, "{Position} differs between the replicas of its chain")]
    public static partial void Diverged(ILogger logger, string position);
}
