using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;

namespace Corfu.Transport;

/// <summary>Why there is no connection, as a value: when a node has died, many attempts fail at once, and an exception
/// through several layers costs more than the attempt.</summary>
internal sealed record ConnectFailure(string Message, TransportFault Fault, Exception? Inner = null)
{
    /// <summary>A new exception for each caller, whose stack it carries. Nothing was sent.</summary>
    public TransportException ToException() => new(Message, outcomeUnknown: false, Inner) { Fault = Fault };
}

/// <summary>A socket after the handshake, or why there is none.</summary>
internal readonly record struct Dialed(Socket? Socket, Welcome? Welcome, ConnectFailure? Failure)
{
    [MemberNotNullWhen(true, nameof(Socket), nameof(Welcome))]
    [MemberNotNullWhen(false, nameof(Failure))]
    public bool IsOpen => Failure is null;
}

/// <summary>A connection, or why there is none.</summary>
internal readonly record struct Connected(ClientConnection? Connection, ConnectFailure? Failure);
