using Microsoft.Extensions.Logging;

namespace Corfu.Transport;

internal static partial class TransportLog
{
    [LoggerMessage(1, LogLevel.Information, "Cannot connect to {Address}: {Reason}")]
    public static partial void CannotConnect(ILogger logger, string address, string reason);

    [LoggerMessage(3, LogLevel.Information, "Connected to {Address} after {Failures} failed attempts")]
    public static partial void ConnectedAgain(ILogger logger, string address, int failures);

    [LoggerMessage(2, LogLevel.Information, "Connection to {Address} lost: {Reason}")]
    public static partial void Lost(ILogger logger, string address, string reason);
}
