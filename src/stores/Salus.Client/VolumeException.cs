namespace Salus;

/// <summary>Why a volume refuses or fails a call.</summary>
public enum VolumeFault
{
    /// <summary>The volume is a snapshot.</summary>
    ReadOnly = 1,

    /// <summary>The stores have no space for the write; nothing of it was done.</summary>
    OutOfSpace = 2,

    /// <summary>Another process may write, or the volume was closed. Every further call fails the same way.</summary>
    LeaseLost = 3,

    /// <summary>No copy of a block matches its hash.</summary>
    Unverifiable = 4,

    /// <summary>The stores that the call needs did not answer in time.</summary>
    Unavailable = 5,

    /// <summary>Acknowledged writes are at no store of a region any more. Every further call fails the same way; a
    /// mount waits for stores that bring them back, or for an operator who gives them up.</summary>
    WritesLost = 6,
}

/// <summary>A call of a volume failed.</summary>
/// <param name="message">Says what an operator can do.</param>
public sealed class VolumeException(VolumeFault fault, string message, Exception? inner = null)
    : CorfuException(message, inner)
{
    public VolumeFault Fault { get; } = fault;

    /// <summary>The first block that could not be read, where that is known.</summary>
    public long? Block { get; init; }
}
