namespace Tango;

/// <summary>The object refused an update when it was applied (R23): nothing of it took effect.</summary>
public sealed class TangoRejectedException(string reason) : TangoException(reason)
{
    public string Reason { get; } = reason;
}
