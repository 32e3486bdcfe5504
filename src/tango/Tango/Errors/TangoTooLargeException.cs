namespace Tango;

/// <summary>An update or a transaction does not fit into one log entry, or a state not into one checkpoint. Nothing was
/// sent.</summary>
public sealed class TangoTooLargeException : TangoException
{
    internal TangoTooLargeException(long size, long limit)
        : this($"The record has {size} bytes, an entry of this log holds {limit}", size, limit)
    {
    }

    private TangoTooLargeException(string message, long size, long limit)
        : base(message) => (Size, Limit) = (size, limit);

    /// <summary>In bytes; or the number of objects, where these are too many.</summary>
    public long Size { get; }

    public long Limit { get; }

    internal static TangoTooLargeException OfObjects(int count, int limit) => new(
        $"The transaction concerns {count} objects, and an entry of this log is in at most {limit} streams, one for "
        + "each. Divide it, or keep what belongs together in fewer objects", count, limit);

    internal static TangoTooLargeException OfCheckpoint(string name, long size, long limit) => new(
        $"A checkpoint of '{name}' has {size} bytes, and with this log's entries it may have {limit}: spread the state "
        + "over several objects, or use larger entries", size, limit);
}
