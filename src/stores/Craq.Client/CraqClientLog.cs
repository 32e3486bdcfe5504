using Microsoft.Extensions.Logging;

namespace Craq;

internal static partial class CraqClientLog
{
    [LoggerMessage(1, LogLevel.Debug, "Chain {Chain}")]
    public static partial void Adopted(ILogger logger, string chain);

    [LoggerMessage(2, LogLevel.Debug, "{Node} does not answer: {Reason}")]
    public static partial void Silent(ILogger logger, string node, string reason);

    [LoggerMessage(3, LogLevel.Warning, "No known node answers; the endpoints are asked again: {Reason}")]
    public static partial void Lost(ILogger logger, string reason);
}
