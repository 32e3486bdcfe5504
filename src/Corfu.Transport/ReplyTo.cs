using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>Where the answer to one request goes.</summary>
public readonly struct ReplyTo(IReplySink sink, uint correlation, Opcode opcode)
{
    public Opcode Opcode => opcode;

    /// <summary>Whether the other's answer goes over the same connection.</summary>
    public bool IsSameWay(ReplyTo other) => ReferenceEquals(sink, other.Sink);

    private IReplySink Sink => sink;

    /// <summary>Encodes the answer at once, so the response's memory is free afterwards; a connection that is gone drops it.</summary>
    public void Send(Response response) => sink.Send(correlation, opcode, response);
}
