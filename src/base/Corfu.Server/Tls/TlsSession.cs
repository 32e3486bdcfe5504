using System.Net.Security;

namespace Corfu.Server;

/// <summary>A connection after its TLS handshake, as a feature of it. A session without a peer was refused.</summary>
/// <param name="Refusal">Why the peer's certificate is refused; it is told, and nothing else is sent to it.</param>
internal sealed record TlsSession(SslStream Stream, TlsPeer? Peer, string? Refusal);
