namespace Corfu.Protocol;

/// <summary>
/// A request got no answer. <see cref="OutcomeUnknown"/> is <see langword="false"/> only where it is certain that the node never
/// saw the request; otherwise its outcome is unknown and must be resolved (R9).
/// </summary>
public sealed class TransportException(string message, bool outcomeUnknown, Exception? inner = null) : CorfuException(message, inner)
{
    public bool OutcomeUnknown { get; } = outcomeUnknown;

    public TransportFault Fault { get; init; }
}
