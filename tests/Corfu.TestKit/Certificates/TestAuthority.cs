using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.TestKit;

/// <summary>An authority whose certificates may be wrong in any way that a test asks for. The product's own is that of
/// <c>corfu cert</c>.</summary>
public sealed class TestAuthority
{
    private static int s_serial = 1000;

    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);

    public TestAuthority(ClusterId cluster, DateTimeOffset? from = null)
    {
        Cluster = cluster;
        var start = from ?? DateTimeOffset.UtcNow.AddDays(-1);
        var request = new CertificateRequest($"CN=Test CA {Interlocked.Increment(ref s_serial)}", _key,
            HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, true, 1, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        Certificate = request.CreateSelfSigned(start, start.AddYears(10));
    }

    public ClusterId Cluster { get; }

    public X509Certificate2 Certificate { get; }

    public X509Certificate2Collection Anchors => [Certificate];

    /// <summary>Valid for a day each way.</summary>
    public TlsCredentials Credentials(AccessRole role, string name = "a", TestOrder? order = null) =>
        new(Issue(new CertificateIdentity(Cluster, role, name), order), [], Anchors);

    /// <summary>A certificate with its key.</summary>
    public X509Certificate2 Issue(CertificateIdentity? identity, TestOrder? order = null)
    {
        order ??= new TestOrder();
        using var curve = order.RsaBits == 0 ? ECDsa.Create(ECCurve.NamedCurves.nistP256) : null;
        using var rsa = order.RsaBits == 0 ? null : RSA.Create(order.RsaBits);
        var name = new X500DistinguishedName($"CN={identity?.Name ?? "nobody"}");
        var request = curve is not null
            ? new CertificateRequest(name, curve, HashAlgorithmName.SHA256)
            : new CertificateRequest(name, rsa!, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var names = new SubjectAlternativeNameBuilder();
        if (identity is not null) names.AddUri(new Uri(identity.ToString()));
        foreach (var uri in order.FurtherUris) names.AddUri(new Uri(uri));
        names.AddDnsName("localhost");
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(order.IsAuthority, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(order.Usage, true));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromCertificate(Certificate, true,
            false));
        if (order.IssuerAddress is { } address)
            request.CertificateExtensions.Add(new X509AuthorityInformationAccessExtension([], [address]));
        OidCollection uses = [];
        foreach (var use in order.Uses) uses.Add(new Oid(use));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(uses, false));
        var serial = new byte[8];
        System.Buffers.Binary.BinaryPrimitives.WriteInt64BigEndian(serial, Interlocked.Increment(ref s_serial));
        var now = DateTimeOffset.UtcNow;
        using var bare = request.Create(Certificate.SubjectName, X509SignatureGenerator.CreateForECDsa(_key),
            order.NotBefore ?? now.AddHours(-1), order.NotAfter ?? now.AddDays(1), serial);
        return curve is not null ? bare.CopyWithPrivateKey(curve) : bare.CopyWithPrivateKey(rsa!);
    }

    /// <summary>Writes <c>ca.pem</c> and <c>identity.pem</c>, each with one rename.</summary>
    public void Write(string folder, X509Certificate2 identity, params X509Certificate2[] anchors)
    {
        using var key = identity.GetECDsaPrivateKey()!;
        Replace(Path.Combine(folder, CertificateFolder.AnchorsFile),
            string.Join('\n', (anchors.Length == 0 ? [Certificate] : anchors).Select(a => a.ExportCertificatePem())));
        Replace(Path.Combine(folder, CertificateFolder.IdentityFile),
            key.ExportPkcs8PrivateKeyPem() + "\n" + identity.ExportCertificatePem());
    }

    private static void Replace(string path, string text)
    {
        File.WriteAllText(path + ".new", text);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path + ".new", UnixFileMode.UserRead | UnixFileMode.UserWrite);
        File.Move(path + ".new", path, overwrite: true);
    }
}

/// <summary>The unusual properties of a certificate.</summary>
public sealed record TestOrder
{
    public const string ServerUse = "1.3.6.1.5.5.7.3.1";
    public const string ClientUse = "1.3.6.1.5.5.7.3.2";

    public DateTimeOffset? NotBefore { get; init; }

    public DateTimeOffset? NotAfter { get; init; }

    /// <summary>Zero: ECDSA P-256.</summary>
    public int RsaBits { get; init; }

    public bool IsAuthority { get; init; }

    public string[] FurtherUris { get; init; } = [];

    /// <summary>The place where the certificate says that its issuer's can be had; null: none.</summary>
    public string? IssuerAddress { get; init; }

    public string[] Uses { get; init; } = [ServerUse, ClientUse];

    public X509KeyUsageFlags Usage { get; init; } = X509KeyUsageFlags.DigitalSignature;
}

/// <summary>Credentials that a test replaces.</summary>
public sealed class TestSource(TlsCredentials first) : ICertificateSource
{
    private volatile TlsCredentials _current = first;

    public event Action? Changed;

    public TlsCredentials Current
    {
        get => _current;
        set
        {
            _current = value;
            Changed?.Invoke();
        }
    }
}

/// <summary>Certificates that a test denies.</summary>
public sealed class TestDenyList : IDenyList
{
    private readonly HashSet<(string Serial, string IssuerKey)> _entries = [];

    public event Action? Changed;

    public void Add(X509Certificate2 certificate)
    {
        lock (_entries) _entries.Add((certificate.SerialNumber, TlsPeer.IssuerKeyOf(certificate)));
        Changed?.Invoke();
    }

    public bool IsDenied(string serial, string issuerKey)
    {
        lock (_entries) return _entries.Contains((serial, issuerKey));
    }
}
