namespace Craq.Hosting.Memcached;

internal static partial class MemcachedLog
{
    [LoggerMessage(1, LogLevel.Warning, "flush_all with a delay was not carried out: {Reason}; send it again")]
    public static partial void NotFlushed(ILogger logger, string reason);

    [LoggerMessage(2, LogLevel.Information, "memcached at {Listen}: keyspace {Keyspace}, {Mode} reads")]
    public static partial void Serving(ILogger logger, string listen, string keyspace, string mode);

    [LoggerMessage(3, LogLevel.Error, "A memcached connection has ended by a fault of this program")]
    public static partial void Failed(ILogger logger, Exception error);
}
