namespace Salus.Hosting;

internal static partial class SalusHostingLog
{
    [LoggerMessage(1, LogLevel.Information, "The node is registered as incarnation {Incarnation} of store {Store}")]
    public static partial void Registered(ILogger logger, string incarnation, string store);

    [LoggerMessage(2, LogLevel.Warning,
        "The log is not reached; the node is a member of no region until it is: {Reason}")]
    public static partial void NoLog(ILogger logger, string reason);

    [LoggerMessage(3, LogLevel.Warning,
        "The registration of incarnation {Incarnation} has ended: its regions go on elsewhere, and the node registers "
        + "anew")]
    public static partial void TermOver(ILogger logger, string incarnation);

    [LoggerMessage(4, LogLevel.Error, "A part of the node has failed; it is started anew")]
    public static partial void TermFailed(ILogger logger, Exception error);
}
