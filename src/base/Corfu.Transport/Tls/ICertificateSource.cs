using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Transport;

/// <summary>The place that a process has its certificate from: a folder (<see cref="CertificateFolder"/>), a store
/// of the operating system, a vault.</summary>
public interface ICertificateSource
{
    /// <summary>New connections use what this returns.</summary>
    TlsCredentials Current { get; }

    /// <summary><see cref="Current"/> is another one now. Raised on any thread.</summary>
    event Action? Changed;
}

/// <summary>A certificate with its key and intermediates, and the anchors that peers' certificates must lead to.
/// Immutable: a renewal makes another one.</summary>
public sealed class TlsCredentials
{
    /// <param name="certificate">Has its private key.</param>
    /// <param name="intermediates">From the certificate's issuer upwards, without the anchor.</param>
    /// <param name="identity">Null: as the certificate states it.</param>
    /// <exception cref="CertificateException">The certificate has no key or no identity.</exception>
    public TlsCredentials(X509Certificate2 certificate, X509Certificate2Collection intermediates,
        X509Certificate2Collection anchors, CertificateIdentity? identity = null)
    {
        if (!certificate.HasPrivateKey)
            throw new CertificateException($"The certificate {certificate.Subject} comes without its private key.");
        Certificate = certificate;
        Anchors = anchors;
        var reason = string.Empty;
        Identity = identity ?? CertificateIdentity.Of(certificate, out reason)
            ?? throw new CertificateException(
                $"{reason}; issue one with 'corfu cert issue', or map it with 'tls.map'.");
        Context = SslStreamCertificateContext.Create(certificate, intermediates, offline: true);
    }

    public X509Certificate2 Certificate { get; }

    public X509Certificate2Collection Anchors { get; }

    /// <summary>This process's own role, name and cluster.</summary>
    public CertificateIdentity Identity { get; }

    /// <summary>The certificate with its intermediates, as a handshake sends them.</summary>
    public SslStreamCertificateContext Context { get; }

    public DateTimeOffset NotBefore => new(Certificate.NotBefore.ToUniversalTime());

    public DateTimeOffset NotAfter => new(Certificate.NotAfter.ToUniversalTime());
}

/// <summary>A certificate, or a folder of certificates, cannot be used; the message says what to do.</summary>
public sealed class CertificateException(string message, Exception? inner = null) : CorfuException(message, inner);
