using System.Diagnostics;

namespace Corfu.Transport;

/// <summary>The server's port: one role of a process. A connection is bound by its handshake to one identity; a new
/// incarnation is a new handler with a new identity, and the connections of the old one are closed.</summary>
public interface IRoleHandler
{
    NodeRole Role { get; }

    NodeId Id { get; }

    /// <summary>Requests that may wait in the role at once. Identities share three quarters of it, so that one of them
    /// does not fill it for all.</summary>
    int MaxWaiting => 65536;

    /// <summary>Takes one request; called in arrival order per connection, concurrently for different connections. It
    /// must not block on I/O: the answer may be sent later, from any thread, exactly once. Memory in the request is
    /// valid only until the call returns.</summary>
    void Handle(Request request, ReplyTo reply);

    /// <summary>Called after all requests of a batch that arrived together: the moment to start one commit for
    /// them.</summary>
    void BatchEnd()
    {
    }
}

/// <summary>Receives the answer to a request.</summary>
/// <param name="received">When the request came, as a time stamp of the sink's clock.</param>
public readonly struct ReplyTo(IReplySink sink, uint correlation, Opcode opcode, long received = 0)
{
    private readonly IReplySink _sink = sink;

    internal IReplySink Sink => _sink;

    public Opcode Opcode => opcode;

    /// <summary>The peer that asked.</summary>
    public Principal Principal => _sink.Principal;

    /// <summary>The part of the role that the peer's identity may hold; null: all of it.</summary>
    public IRoleShare? Share => _sink.Share;

    /// <summary>The span of the request; none where its caller records nothing.</summary>
    public ActivityContext Trace => _sink.TraceOf(correlation);

    /// <summary>Whether both answers go over the same connection.</summary>
    public bool IsSameWay(ReplyTo other) => ReferenceEquals(_sink, other._sink);

    /// <summary>Encodes the answer at once, so the response's memory is free afterwards; a connection that is gone
    /// drops it.</summary>
    public void Send(Response response) => _sink.Send(correlation, opcode, response, received);
}

/// <summary>The sending half of a server connection. Thread-safe; answers sent close together leave with one
/// flush.</summary>
public interface IReplySink
{
    /// <summary>The peer that the answers go to. Default: one of this process.</summary>
    Principal Principal => Principal.Local;

    /// <summary>The part of the role that the peer's identity may hold. Default: all of it.</summary>
    IRoleShare? Share => null;

    void Send(uint correlation, Opcode opcode, Response response);

    /// <summary>The span of a request that has no answer yet; none where the caller records nothing.</summary>
    ActivityContext TraceOf(uint correlation) => default;

    /// <summary>As above, for a sink that measures.</summary>
    /// <param name="received">As in <see cref="ReplyTo"/>.</param>
    void Send(uint correlation, Opcode opcode, Response response, long received) =>
        Send(correlation, opcode, response);

    /// <summary>From now on answers may wait for those that follow, until <see cref="Uncork"/>. Calls nest. Default: no
    /// answer waits.</summary>
    void Cork()
    {
    }

    /// <summary>The answers that have waited leave now.</summary>
    /// <param name="apart">Another thread sends them.</param>
    void Uncork(bool apart)
    {
    }
}

/// <summary>The part that one identity may hold of something that a role has for all. Any thread.</summary>
public interface IRoleShare
{
    /// <summary>Counts it as held until it is released.</summary>
    /// <param name="total">All that the role has, for all identities.</param>
    /// <returns>False, with nothing counted: the identity's part is used up.</returns>
    bool TryHold(long amount, long total);

    void Release(long amount);
}
