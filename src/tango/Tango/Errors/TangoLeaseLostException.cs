namespace Tango;

/// <summary>An operation needs a lease, a lock or a delivery that its owner does not have any more. Others may have it
/// by now.</summary>
public sealed class TangoLeaseLostException(string objectName, long lease, string message) : TangoException(message)
{
    public string ObjectName { get; } = objectName;

    /// <summary>The lease, or the fencing token.</summary>
    public long Lease { get; } = lease;
}
