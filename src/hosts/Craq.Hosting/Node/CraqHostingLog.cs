namespace Craq.Hosting;

internal static partial class CraqHostingLog
{
    [LoggerMessage(1, LogLevel.Information, "The directory of chains is followed, and the node is registered in it")]
    public static partial void Following(ILogger logger);

    [LoggerMessage(2, LogLevel.Warning,
        "The log is not reached; the node serves the chains that it has installed: {Reason}")]
    public static partial void NoLog(ILogger logger, string reason);
}
