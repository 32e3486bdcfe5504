using System.Diagnostics.CodeAnalysis;
using System.Formats.Asn1;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Transport;

/// <summary>The holder that a certificate names: one subject alternative name of the kind URI,
/// <c>corfu://CLUSTER/ROLE/NAME</c>; roles are <c>node</c>, <c>admin</c>, <c>client</c> and <c>caller</c>.</summary>
/// <param name="Name">1 to 63 characters of a-z, 0-9, dot and hyphen.</param>
public sealed record CertificateIdentity(ClusterId Cluster, AccessRole Role, string Name)
{
    public const int MaxName = 63;

    private const string Scheme = "corfu://";

    private const string SubjectAlternativeName = "2.5.29.17";

    /// <summary>Tags of a GeneralName (RFC 5280, 4.2.1.6).</summary>
    private static readonly Asn1Tag DnsTag = new(TagClass.ContextSpecific, 2);

    private static readonly Asn1Tag UriTag = new(TagClass.ContextSpecific, 6);

    public static bool IsName(string name) =>
        name.Length is >= 1 and <= MaxName && name.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c)
            || c is '.' or '-');

    /// <exception cref="FormatException">The message has the form that is expected.</exception>
    public static CertificateIdentity Parse(string uri) =>
        TryParse(uri, out var identity)
            ? identity
            : throw new FormatException($"'{uri}' is not corfu://CLUSTER/ROLE/NAME with a cluster id, a role of node, "
                + "admin, client or caller, and a name of at most 63 characters of a-z, 0-9, '.' and '-'.");

    public static bool TryParse(string? uri, [NotNullWhen(true)] out CertificateIdentity? identity)
    {
        identity = null;
        if (uri is null || !uri.StartsWith(Scheme, StringComparison.Ordinal)) return false;
        var parts = uri[Scheme.Length..].Split('/');
        if (parts.Length != 3 || !Guid.TryParseExact(parts[0], "D", out var cluster) || cluster == Guid.Empty
            || RoleOf(parts[1]) is not { } role || !IsName(parts[2]))
        {
            return false;
        }

        identity = new CertificateIdentity(new ClusterId(cluster), role, parts[2]);
        return true;
    }

    /// <summary>A role by its name in certificates and configuration; null for any other word.</summary>
    public static AccessRole? RoleOf(string word) => word switch
    {
        "node" => AccessRole.Node,
        "admin" => AccessRole.Admin,
        "client" => AccessRole.Client,
        "caller" => AccessRole.Caller,
        _ => null,
    };

    /// <summary>The URIs among a certificate's alternative names, of any scheme.</summary>
    /// <exception cref="MalformedDataException">The extension is damaged.</exception>
    public static IReadOnlyList<string> UrisOf(X509Certificate2 certificate) => NamesOf(certificate, UriTag);

    /// <summary>The DNS names among a certificate's alternative names.</summary>
    /// <exception cref="MalformedDataException">The extension is damaged.</exception>
    public static IReadOnlyList<string> HostsOf(X509Certificate2 certificate) => NamesOf(certificate, DnsTag);

    /// <summary>The hosts among a certificate's alternative names: DNS names and IP addresses.</summary>
    internal static ImmutableArray<string> PlacesOf(X509Certificate2 certificate)
    {
        var names = ImmutableArray.CreateBuilder<string>();
        foreach (var extension in certificate.Extensions)
        {
            if (extension.Oid?.Value != SubjectAlternativeName) continue;
            var alternative = new X509SubjectAlternativeNameExtension(extension.RawData);
            names.AddRange(alternative.EnumerateDnsNames());
            names.AddRange(alternative.EnumerateIPAddresses().Select(static address => address.ToString()));
        }

        return names.DrainToImmutable();
    }

    /// <summary>The identity that a certificate states.</summary>
    /// <returns>Null, with the reason, where it states none, or more than one.</returns>
    public static CertificateIdentity? Of(X509Certificate2 certificate, out string reason)
    {
        try
        {
            var uris = UrisOf(certificate)
                .Where(static uri => uri.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase))
                .ToArray();
            reason = uris.Length switch
            {
                0 => "the certificate names no identity of Corfu (a URI corfu://CLUSTER/ROLE/NAME)",
                1 => $"the certificate's identity '{uris[0]}' is malformed",
                _ => $"the certificate names {uris.Length} identities of Corfu, where one is allowed",
            };
            return uris.Length == 1 && TryParse(uris[0], out var identity) ? identity : null;
        }
        catch (MalformedDataException e)
        {
            reason = e.Message;
            return null;
        }
    }

    public override string ToString() =>
        $"{Scheme}{Cluster}/{Role.ToString().ToLowerInvariant()}/{Name}";

    private static List<string> NamesOf(X509Certificate2 certificate, Asn1Tag kind)
    {
        List<string> names = [];
        try
        {
            foreach (var extension in certificate.Extensions)
            {
                if (extension.Oid?.Value != SubjectAlternativeName) continue;
                var general = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence();
                while (general.HasData)
                {
                    if (general.PeekTag() == kind)
                        names.Add(general.ReadCharacterString(UniversalTagNumber.IA5String, kind));
                    else general.ReadEncodedValue();
                }
            }
        }
        catch (AsnContentException e)
        {
            throw new MalformedDataException($"the certificate's alternative names are damaged: {e.Message}");
        }

        return names;
    }
}
