using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>Sees every request as it reaches a role and every answer as it leaves one, before the network has its way
/// with it.</summary>
public interface IMessageObserver
{
    void Received(MessageInfo message);

    void Answered(MessageInfo message, Response response);

    /// <summary>A request was refused before its role got it.</summary>
    void Refused(Opcode opcode, Status status);

    /// <summary>A line for the trace.</summary>
    string Describe(Request request);

    /// <inheritdoc cref="Describe(Request)"/>
    string Describe(Response response);
}

/// <param name="Node">The role that takes it.</param>
/// <param name="Client">The process that sent it.</param>
/// <param name="Bytes">The whole frame; it never changes.</param>
/// <param name="ReceivedAt">Event number at which the role got it.</param>
public sealed record MessageInfo(NodeId Node, string Client, byte[] Bytes, long ReceivedAt);
