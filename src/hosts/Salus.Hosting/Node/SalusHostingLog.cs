namespace Salus.Hosting;

internal static partial class SalusHostingLog
{
    [LoggerMessage(1, LogLevel.Information, "The node serves regions as incarnation {Incarnation}")]
    public static partial void TermBegins(ILogger logger, string incarnation);

    [LoggerMessage(2, LogLevel.Warning,
        "The log is not reached; the node is a member of no region until it is: {Reason}")]
    public static partial void NoLog(ILogger logger, string reason);

    [LoggerMessage(3, LogLevel.Warning,
        "The registration of incarnation {Incarnation} has ended: its regions go on elsewhere, and the node registers "
        + "anew")]
    public static partial void TermOver(ILogger logger, string incarnation);

    [LoggerMessage(4, LogLevel.Warning, "A volume is not served over NBD yet; it is tried again")]
    public static partial void NotServed(ILogger logger, Exception error);

    [LoggerMessage(5, LogLevel.Error, "The node follows the log no more by a fault of this program; it begins anew")]
    public static partial void Failed(ILogger logger, Exception error);

    [LoggerMessage(6, LogLevel.Warning,
        "File {File} of region {Region} is damaged or missing: reads of its blocks are answered by other members")]
    public static partial void Damaged(ILogger logger, string region, long file);

    [LoggerMessage(7, LogLevel.Information, "The store has dropped {Regions} regions that it has no longer to keep")]
    public static partial void Dropped(ILogger logger, int regions);

    [LoggerMessage(9, LogLevel.Information, "File {File} of region {Region} has come whole from another node")]
    public static partial void Mended(ILogger logger, string region, long file);

    [LoggerMessage(10, LogLevel.Warning, "Regions of deleted volumes are not dropped yet; it is tried again")]
    public static partial void NotDropped(ILogger logger, Exception error);

    [LoggerMessage(11, LogLevel.Warning,
        "Record {Index} of region {Region} is damaged in the store's log: reads of it are answered by other members")]
    public static partial void DamagedRecord(ILogger logger, string region, long index);

    [LoggerMessage(12, LogLevel.Information, "Record {Index} of region {Region} has come whole from another node")]
    public static partial void MendedRecord(ILogger logger, string region, long index);

    [LoggerMessage(8, LogLevel.Error, "Region {Region} is not served here by a fault of this program")]
    public static partial void Broken(ILogger logger, string region, Exception error);
}
