namespace Corfu.Protocol;

/// <summary>
/// A request got no answer. <see cref="OutcomeUnknown"/> is <see langword="false"/> only where it is certain that the
/// node never saw the request; otherwise its outcome is unknown and must be resolved (R9).
/// </summary>
public sealed class TransportException(string message, bool outcomeUnknown, Exception? inner = null)
    : CorfuException(message, inner)
{
    public bool OutcomeUnknown { get; } = outcomeUnknown;

    public TransportFault Fault { get; init; }
}

/// <summary>How a request came to have no answer. What it proves about the node differs, and failure detection lives on
/// the difference.</summary>
public enum TransportFault
{
    /// <summary>Nothing is known beyond the missing answer.</summary>
    Unknown = 0,

    /// <summary>The machine answers and nobody listens there: the process is gone.</summary>
    Refused,

    /// <summary>A process of this protocol answers there and does not serve the identity: it is gone for ever, or was
    /// never there (R2).</summary>
    WrongIdentity,

    /// <summary>Nothing came back in time.</summary>
    TimedOut,

    /// <summary>The connection ended before the answer.</summary>
    Lost,

    /// <summary>Nothing was tried: an earlier attempt failed a moment ago.</summary>
    BackOff,
}
