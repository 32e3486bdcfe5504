using System.Diagnostics.CodeAnalysis;

namespace Corfu.Transport;

/// <summary>Why there is no connection, as a value: when a node has died, many attempts fail at once, and an exception
/// through several layers costs more than the attempt.</summary>
internal sealed record ConnectFailure(string Message, TransportFault Fault, Exception? Inner = null)
{
    /// <summary>No TLS handshake was made, as with a node that has none.</summary>
    public bool IsNoTls { get; init; }

    /// <summary>A new exception for each caller, whose stack it carries. Nothing was sent.</summary>
    public TransportException ToException() => new(Message, outcomeUnknown: false, Inner) { Fault = Fault };
}

/// <summary>A connection after its handshakes, or why there is none.</summary>
internal readonly record struct Dialed(PeerStream Stream, Welcome? Welcome, ConnectFailure? Failure)
{
    /// <summary>Null without TLS.</summary>
    public TlsLink? Tls { get; init; }

    [MemberNotNullWhen(true, nameof(Welcome))]
    [MemberNotNullWhen(false, nameof(Failure))]
    public bool IsOpen => Failure is null;
}

/// <summary>The credentials that a TLS connection was opened with, and its peer.</summary>
internal sealed record TlsLink(TlsCredentials Credentials, TlsPeer Peer);

/// <summary>A connection, or why there is none.</summary>
internal readonly record struct Connected(ClientConnection? Connection, ConnectFailure? Failure);
