using System.Collections.Immutable;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Transport;

/// <summary>The peer of a TLS connection, as its certificate was accepted.</summary>
/// <param name="Serial">Hexadecimal, upper case, as <see cref="X509Certificate2.SerialNumber"/>.</param>
/// <param name="IssuerKey">As <see cref="IssuerKeyOf"/>.</param>
public sealed record TlsPeer(Principal Principal, ClusterId Cluster, string Serial, string IssuerKey,
    DateTimeOffset NotAfter)
{
    /// <summary>The certificate and those sent with it, to be checked again.</summary>
    internal ImmutableArray<byte[]> Sent { get; init; } = [];

    /// <summary>The anchors that the certificate was last found to lead to.</summary>
    internal X509Certificate2Collection? Anchors { get; set; }

    internal bool IsServer { get; init; }

    /// <summary>The key that signed a certificate: its authority key identifier in upper-case hexadecimal; without one
    /// the SHA-256 of the issuer's name. Serial numbers are unique to it.</summary>
    public static string IssuerKeyOf(X509Certificate2 certificate)
    {
        var authority = certificate.Extensions.OfType<X509AuthorityKeyIdentifierExtension>().FirstOrDefault();
        return authority?.KeyIdentifier is { } key
            ? Convert.ToHexString(key.Span)
            : Convert.ToHexString(SHA256.HashData(certificate.IssuerName.RawData));
    }
}

/// <summary>The result of checking a peer's certificate: the peer, or the reason of its refusal, which says what to
/// do.</summary>
public readonly record struct PeerVerdict(TlsPeer? Peer, string? Reason);
