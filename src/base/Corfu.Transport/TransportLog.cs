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

    [LoggerMessage(4, LogLevel.Information, "The certificate of {Folder} is now {Identity}, valid until {End}")]
    public static partial void Renewed(ILogger logger, string folder, string identity, DateTimeOffset end);

    [LoggerMessage(5, LogLevel.Warning, "The certificates of {Folder} do not count, the ones before stay: {Reason}")]
    public static partial void NotRenewed(ILogger logger, string folder, string reason);

    [LoggerMessage(7, LogLevel.Warning,
        "No connection to {Address} with the new certificate, the one before stays: {Reason}")]
    public static partial void CannotRenew(ILogger logger, string address, string reason);

    [LoggerMessage(6, LogLevel.Warning,
        "The certificate of {Identity} ended at {End} and counts a few days longer: run 'corfu cert renew'")]
    public static partial void ExpiredNode(ILogger logger, string identity, DateTimeOffset end);
}
