using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>
/// The server's port: one role of a process. A connection is bound by its handshake to one identity; a new incarnation is a new
/// handler with a new identity, and the connections of the old one are closed (R2, R7).
/// </summary>
public interface IRoleHandler
{
    NodeRole Role { get; }

    NodeId Id { get; }

    /// <summary>
    /// Takes one request; called in arrival order per connection, concurrently for different connections. It must not block
    /// on I/O: the answer may be sent later, from any thread, exactly once. Memory in the request is valid only until the call returns.
    /// </summary>
    void Handle(Request request, ReplyTo reply);

    /// <summary>
    /// Called after the requests that arrived together were all handed over: the moment to start one commit, or one flush, for the
    /// whole batch.
    /// </summary>
    void BatchEnd()
    {
    }
}
