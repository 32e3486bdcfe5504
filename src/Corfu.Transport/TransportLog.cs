using Microsoft.Extensions.Logging;

namespace Corfu.Transport;

internal static partial class TransportLog
{
    [LoggerMessage(1, LogLevel.Warning, "Connection {Connection} from {Peer} dropped: {Reason}")]
    public static partial void Dropped(ILogger logger, string connection, string peer, string reason);

    [LoggerMessage(2, LogLevel.Warning, "Connection {Connection} from {Peer} refused: {Reason}")]
    public static partial void Refused(ILogger logger, string connection, string peer, string reason);

    [LoggerMessage(3, LogLevel.Error, "A handler failed on a request of connection {Connection}")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, string connection);

    [LoggerMessage(4, LogLevel.Information, "Cannot connect to {Address}: {Reason}")]
    public static partial void CannotConnect(ILogger logger, string address, string reason);

    [LoggerMessage(5, LogLevel.Information, "Connection to {Address} lost: {Reason}")]
    public static partial void Lost(ILogger logger, string address, string reason);
}
