using Microsoft.Extensions.Logging;

namespace Corfu.Server;

internal static partial class ServerLog
{
    [LoggerMessage(1, LogLevel.Warning, "Connection {Connection} from {Peer} dropped: {Reason}")]
    public static partial void Dropped(ILogger logger, string connection, string peer, string reason);

    [LoggerMessage(2, LogLevel.Warning, "Connection {Connection} from {Peer} refused: {Reason}")]
    public static partial void Refused(ILogger logger, string connection, string peer, string reason);

    [LoggerMessage(3, LogLevel.Error, "A handler failed on a request of connection {Connection}")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, string connection);

    [LoggerMessage(4, LogLevel.Warning,
        "{Peer} may not send {Opcode}: its certificate's role does not allow it ({Count} times since the last line)")]
    public static partial void Denied(ILogger logger, string peer, Opcode opcode, long count);

    [LoggerMessage(5, LogLevel.Warning, "{Count} more connections in {Seconds} s: {Reason}")]
    public static partial void LeftOut(ILogger logger, int count, int seconds, string reason);
}
