using System.Security.Cryptography.X509Certificates;

namespace Corfu.Transport;

/// <summary>Gives a role and a name to certificates of a company's own authority, which name no identity of
/// Corfu. One of <see cref="Uri"/>, <see cref="Dns"/> and <see cref="Subject"/> is set, and is compared
/// exactly.</summary>
public sealed record CertificateMapping(AccessRole Role, string Name)
{
    /// <summary>A URI among the alternative names.</summary>
    public string? Uri { get; init; }

    /// <summary>A DNS name among the alternative names; the case of letters does not count.</summary>
    public string? Dns { get; init; }

    /// <summary>The distinguished name, as <c>CN=billing, O=Example</c>.</summary>
    public string? Subject { get; init; }

    /// <summary>Null if the mapping can be used; else what is wrong with it.</summary>
    public string? Fault =>
        (Uri is null ? 0 : 1) + (Dns is null ? 0 : 1) + (Subject is null ? 0 : 1) != 1
            ? "a mapping has exactly one of uri, dns and subject"
            : Role is not (AccessRole.Node or AccessRole.Admin or AccessRole.Client or AccessRole.Caller)
                ? "a mapping's role is node, admin, client or caller"
                : CertificateIdentity.IsName(Name)
                    ? null
                    : $"a mapping's name '{Name}' is not 1 to 63 characters of a-z, 0-9, '.' and '-'";

    /// <exception cref="MalformedDataException">The alternative names are damaged.</exception>
    internal bool Covers(X509Certificate2 certificate) =>
        (Uri is not null && CertificateIdentity.UrisOf(certificate).Contains(Uri, StringComparer.Ordinal))
        || (Dns is not null
            && CertificateIdentity.HostsOf(certificate).Contains(Dns, StringComparer.OrdinalIgnoreCase))
        || (Subject is not null && certificate.Subject == Subject);
}
