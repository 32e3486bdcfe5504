using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Corfu.ZooKeeper.Auth;

/// <summary>Identities that a connection proves.</summary>
/// <param name="superDigest"><c>user:digest</c> of the operator, who may do everything. Null: there is none.</param>
internal sealed class Credentials(string? superDigest)
{
    private const int HashBytes = 16;

    private static readonly Dictionary<string, string> s_types = new(StringComparer.Ordinal)
    {
        ["2.5.4.3"] = "CN",
        ["2.5.4.6"] = "C",
        ["2.5.4.7"] = "L",
        ["2.5.4.8"] = "ST",
        ["2.5.4.9"] = "STREET",
        ["2.5.4.10"] = "O",
        ["2.5.4.11"] = "OU",
        ["0.9.2342.19200300.100.1.25"] = "DC",
        ["0.9.2342.19200300.100.1.1"] = "UID",
    };

    /// <summary>The identity that every connection has.</summary>
    public static ImmutableArray<AuthId> OfAddress(EndPoint? peer)
    {
        if (peer is not IPEndPoint { Address: var address }) return [];
        if (address.IsIPv4MappedToIPv6) address = address.MapToIPv4();
        return [new AuthId("ip", address.ToString())];
    }

    /// <summary>The subject as ZooKeeper has it in the scheme <c>x509</c>: RFC 2253, the last part first.</summary>
    public static string SubjectOf(X509Certificate2 certificate) => string.Join(
        ',', certificate.SubjectName.EnumerateRelativeDistinguishedNames().Select(TextOf));

    private static string TextOf(X500RelativeDistinguishedName part)
    {
        if (part.HasMultipleElements) return $"#{Convert.ToHexString(part.RawData.Span)}";
        var type = part.GetSingleElementType().Value!;
        var value = part.GetSingleElementValue() ?? "";
        var text = new StringBuilder(s_types.GetValueOrDefault(type, type)).Append('=');
        for (var i = 0; i < value.Length; i++)
        {
            var isEdge = i == 0 && value[i] is ' ' or '#' || i == value.Length - 1 && value[i] == ' ';
            if (isEdge || ",+\"\\<>;".Contains(value[i], StringComparison.Ordinal)) text.Append('\\');
            text.Append(value[i]);
        }

        return text.ToString();
    }

    /// <summary>The hash that the log has in place of a session's password.</summary>
    public static UInt128 HashOf(ReadOnlySpan<byte> password)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(password, hash);
        return System.Buffers.Binary.BinaryPrimitives.ReadUInt128BigEndian(hash[..HashBytes]);
    }

    /// <summary>Identities with those that a request for authentication adds.</summary>
    /// <returns>Null: the credential is refused.</returns>
    public ImmutableArray<AuthId>? Prove(string scheme, ReadOnlySpan<byte> credential, ImmutableArray<AuthId> ids)
    {
        // Every connection has its address.
        if (scheme == "ip") return ids;
        if (scheme != "digest") return null;
        var digest = DigestOf(Encoding.UTF8.GetString(credential));
        var proved = ids.Add(new AuthId("digest", digest));
        if (digest == superDigest) proved = proved.Add(new AuthId("super", ""));
        return [.. proved.Distinct()];
    }

    // ZooKeeper's digests are SHA-1, and every client computes them.
    private static string DigestOf(string credential)
    {
#pragma warning disable CA5350
        var hash = SHA1.HashData(Encoding.UTF8.GetBytes(credential));
#pragma warning restore CA5350
        return $"{credential.Split(':')[0]}:{Convert.ToBase64String(hash)}";
    }
}
