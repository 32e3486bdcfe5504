namespace Salus.Nbd;

internal static partial class NbdLog
{
    [LoggerMessage(1, LogLevel.Information, "NBD at {Listen}")]
    public static partial void Serving(ILogger logger, string listen);

    [LoggerMessage(2, LogLevel.Information, "Volume {Export} is mounted for NBD clients")]
    public static partial void Mounted(ILogger logger, string export);

    [LoggerMessage(3, LogLevel.Information, "Volume {Export} is no longer mounted: no NBD client uses it")]
    public static partial void Unmounted(ILogger logger, string export);

    [LoggerMessage(4, LogLevel.Warning, "Volume {Export} was not closed cleanly; its next mount recovers it")]
    public static partial void NotClosed(ILogger logger, string export, Exception error);

    [LoggerMessage(5, LogLevel.Information, "{Peer} uses {Export}")]
    public static partial void Attached(ILogger logger, string peer, string export);

    [LoggerMessage(6, LogLevel.Information, "{Peer} has left {Export}: {Reason}")]
    public static partial void Detached(ILogger logger, string peer, string export, string reason);

    [LoggerMessage(7, LogLevel.Information, "{Peer} has used no volume: {Reason}")]
    public static partial void Refused(ILogger logger, string peer, string reason);

    [LoggerMessage(8, LogLevel.Error, "An NBD connection of {Peer} has ended by a fault of this program")]
    public static partial void Failed(ILogger logger, string peer, Exception error);

    [LoggerMessage(9, LogLevel.Error, "A command on {Export} failed by a fault of this program; its client got EIO")]
    public static partial void CommandFailed(ILogger logger, string export, Exception error);

    [LoggerMessage(10, LogLevel.Warning, "{Peer} got an error from {Export}: {Reason}")]
    public static partial void CommandRefused(ILogger logger, string peer, string export, string reason);
}
