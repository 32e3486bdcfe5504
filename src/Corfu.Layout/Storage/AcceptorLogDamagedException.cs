using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// The log of an acceptor is damaged where it was durable, or is not this acceptor's. It must not start: an acceptor
/// that forgets a promise can undo a decision (R12). Replace it by a freshly formatted one with another identity.
/// </summary>
public sealed class AcceptorLogDamagedException(
    string message, Exception? inner = null) : CorfuException(message, inner);
