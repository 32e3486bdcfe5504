namespace Tango;

/// <summary>The object refused an update when it was applied: nothing of it took effect.</summary>
// The rejection is raised before any change, and recorded alike everywhere (R23).
public sealed class TangoRejectedException(string reason) : TangoException(reason)
{
    public string Reason { get; } = reason;
}
