namespace Corfu.Protocol;

/// <summary>A request got no answer. Unless <see cref="OutcomeUnknown"/> is false the node may have executed it, and
/// the outcome must be resolved.</summary>
public sealed class TransportException(string message, bool outcomeUnknown, Exception? inner = null)
    : CorfuException(message, inner)
{
    public bool OutcomeUnknown { get; } = outcomeUnknown;

    public TransportFault Fault { get; init; }
}

/// <summary>Why a request has no answer: what it proves about the node, for failure detection.</summary>
public enum TransportFault
{
    /// <summary>Nothing is known beyond the missing answer.</summary>
    Unknown = 0,

    /// <summary>The machine refuses the connection: the process is gone.</summary>
    Refused,

    /// <summary>A process of this protocol answers and does not serve the identity, which never returns.</summary>
    WrongIdentity,

    /// <summary>Nothing came back in time.</summary>
    TimedOut,

    /// <summary>The connection ended before the answer.</summary>
    Lost,

    /// <summary>Nothing was tried: an earlier attempt failed a moment ago.</summary>
    BackOff,

    /// <summary>The process answers that its limits leave no place for the connection.</summary>
    Overloaded,
}
