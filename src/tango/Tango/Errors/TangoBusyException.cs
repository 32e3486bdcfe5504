namespace Tango;

/// <summary>More calls, or bytes of calls, wait to be sent than the runtime may hold. Nothing was done; slow down and
/// try again.</summary>
public sealed class TangoBusyException : TangoException
{
    private TangoBusyException(long limit, string what)
        : base($"{limit} {what} are already waiting to be sent") => Limit = limit;

    /// <summary><see cref="TangoOptions.MaxQueuedCalls"/> or <see cref="TangoOptions.MaxQueuedBytes"/>.</summary>
    public long Limit { get; }

    internal static TangoBusyException OfCalls(int limit) => new(limit, "calls");

    internal static TangoBusyException OfBytes(long limit) => new(limit, "bytes");
}
