namespace Tango;

/// <summary>An update or a transaction does not fit into one log entry. Nothing was sent.</summary>
public sealed class TangoTooLargeException(long size, long limit)
    : TangoException($"The record has {size} bytes, an entry of this log holds {limit}")
{
    public long Size { get; } = size;

    public long Limit { get; } = limit;
}
