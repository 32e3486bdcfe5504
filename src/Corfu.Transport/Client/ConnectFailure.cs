using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>
/// Why there is no connection, kept as a value on its way up: when a node has died, everybody's attempts fail just when
/// there is most to do, and each layer that an exception passes costs more than the attempt itself.
/// </summary>
internal sealed record ConnectFailure(string Message, TransportFault Fault, Exception? Inner = null)
{
    /// <summary>A new one for each caller, whose stack it will carry. Nothing was sent.</summary>
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
