using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans;

/// <summary>A provider's operation failed, or its outcome is not known.</summary>
public class CorfuOrleansException : OrleansException
{
    public CorfuOrleansException(string message)
        : base(message)
    {
    }

    public CorfuOrleansException(string message, Exception? innerException)
        : base(message, innerException!)
    {
    }

    /// <summary>The failures that providers report as theirs; others, cancellation for instance, pass.</summary>
    public static bool Covers(Exception e) => e is TangoException or CorfuException;

    /// <summary>Says of an operation why it failed, or that its outcome is not known.</summary>
    public static CorfuOrleansException Of(string operation, Exception reason) => reason is TangoInDoubtException
        ? new CorfuOutcomeUnknownException($"It is not known whether {operation} took effect. {reason.Message}", reason)
        : new CorfuOrleansException($"{operation} failed. {reason.Message}", reason);
}

/// <summary>An update may have taken effect, may do so later, or never. Read before you decide on it; for grain state,
/// a write with the old etag is refused if it did.</summary>
public sealed class CorfuOutcomeUnknownException(string message, Exception? innerException)
    : CorfuOrleansException(message, innerException);
