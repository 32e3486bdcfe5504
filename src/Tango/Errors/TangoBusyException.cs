namespace Tango;

/// <summary>More calls wait to be sent than the runtime may hold. Nothing was done; slow down and try again.</summary>
public sealed class TangoBusyException(int limit) : TangoException($"{limit} calls are already waiting to be sent")
{
    public int Limit { get; } = limit;
}
