using System.Security.Cryptography.X509Certificates;

namespace Corfu.Cli;

/// <summary>A certificate as <c>cert show</c> prints it.</summary>
/// <param name="From">The file or address of the certificate.</param>
/// <param name="Identity">Null for those of authorities.</param>
/// <param name="DaysLeft">Negative after its end.</param>
/// <param name="IssuerKey">With the serial number: how a deny list names it.</param>
internal sealed record CertificateJson(string From, string? Identity, string Subject, string Serial, string Issuer,
    string IssuerKey, DateTime NotBefore, DateTime NotAfter, int DaysLeft, bool Authority, string Key,
    IReadOnlyList<string> Hosts)
{
    /// <summary>The cluster of an authority.</summary>
    public string? Cluster { get; init; }

    public static CertificateJson Of(X509Certificate2 certificate, string from) => new(
        from, CertificateIdentity.Of(certificate, out _)?.ToString(), certificate.Subject, certificate.SerialNumber,
        certificate.Issuer, TlsPeer.IssuerKeyOf(certificate), certificate.NotBefore.ToUniversalTime(),
        certificate.NotAfter.ToUniversalTime(),
        DaysUntil(certificate.NotAfter),
        certificate.Extensions.OfType<X509BasicConstraintsExtension>().Any(own => own.CertificateAuthority),
        KeyOf(certificate), CertificateAuthority.HostsOf(certificate))
    {
        Cluster = CertificateAuthority.ClusterOf(certificate)?.ToString(),
    };

    private static int DaysUntil(DateTime end) =>
        (int)Math.Floor((end.ToUniversalTime() - TimeProvider.System.GetUtcNow().UtcDateTime).TotalDays);

    private static string KeyOf(X509Certificate2 certificate)
    {
        using var curve = certificate.GetECDsaPublicKey();
        using var rsa = certificate.GetRSAPublicKey();
        return curve is not null ? $"ECDSA {curve.KeySize} bits"
            : rsa is not null ? $"RSA {rsa.KeySize} bits"
            : certificate.PublicKey.Oid.FriendlyName ?? "unknown";
    }
}

/// <summary>The output of <c>cert show --json</c>.</summary>
/// <param name="Faults">Why peers refuse the certificate, or will; empty if they do not.</param>
internal sealed record CertificatesJson(IReadOnlyList<CertificateJson> Certificates, IReadOnlyList<string> Faults);
