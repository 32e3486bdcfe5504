namespace Corfu.ZooKeeper.Serving;

/// <summary>Lines of a front end.</summary>
internal static partial class FrontEndLog
{
    [LoggerMessage(LogLevel.Information, "ZooKeeper's protocol is served at {EndPoint}")]
    public static partial void Serving(ILogger logger, string endPoint);

    [LoggerMessage(LogLevel.Information, "The front end cannot serve yet, and goes on trying")]
    public static partial void NotServing(ILogger logger, Exception reason);

    [LoggerMessage(LogLevel.Information, "The front end ends, and closes {Count} connections")]
    public static partial void Leaving(ILogger logger, int count);

    [LoggerMessage(LogLevel.Warning, "All clients are closed: {Reason}")]
    public static partial void ClosedAll(ILogger logger, string reason);

    [LoggerMessage(LogLevel.Error, "The tree is not played any more")]
    public static partial void TreeStopped(ILogger logger, Exception reason);

    [LoggerMessage(LogLevel.Warning, "The log did not take the {Record} of this front end")]
    public static partial void NotTaken(ILogger logger, string record, Exception reason);

    [LoggerMessage(LogLevel.Information, "The client {Peer} is closed: {Reason}")]
    public static partial void Closed(ILogger logger, string peer, string reason);

    [LoggerMessage(LogLevel.Warning, "The client {Peer} is closed: it holds {Bytes} bytes, more than any other, and "
        + "all clients together hold more than {Limit} ({Name})")]
    public static partial void Evicted(ILogger logger, string peer, long bytes, long limit, string name);

    [LoggerMessage(LogLevel.Warning, "Serving the client {Peer} has failed")]
    public static partial void Failed(ILogger logger, string peer, Exception reason);

    [LoggerMessage(LogLevel.Information, "Sessions that were silent are ended: {Count}")]
    public static partial void Expiring(ILogger logger, int count);
}
