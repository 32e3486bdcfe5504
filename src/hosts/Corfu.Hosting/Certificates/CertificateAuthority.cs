using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Hosting;

/// <summary>The certificate authority of one cluster, in a folder: <c>ca.pem</c>, its key <c>ca-key.pem</c>, and under
/// <c>issued</c> a copy of each certificate, by which a lost one is found and revoked. The key makes nodes: keep the
/// folder off the cluster's hosts where you can.</summary>
public sealed class CertificateAuthority : IDisposable
{
    public const string KeyName = "ca-key.pem";
    public const string IssuedName = "issued";

    private const int LifetimeYears = 10;

    // The alternative name of an authority's own certificate: the scheme of identities, and the cluster alone.
    private const string ClusterScheme = "corfu://";

    // Clocks of the cluster's hosts agree within this.
    private static readonly TimeSpan ClockTolerance = TimeSpan.FromMinutes(5);
    private static readonly Oid ServerAuthentication = new("1.3.6.1.5.5.7.3.1");
    private static readonly Oid ClientAuthentication = new("1.3.6.1.5.5.7.3.2");

    private readonly string _folder;
    private readonly ECDsa _key;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;

    private CertificateAuthority(string folder, X509Certificate2 certificate, ECDsa key, ClusterId cluster,
        TimeProvider time, IEntropy entropy)
    {
        _folder = folder;
        _key = key;
        _time = time;
        _entropy = entropy;
        Certificate = certificate;
        Cluster = cluster;
    }

    /// <summary>Without the key.</summary>
    public X509Certificate2 Certificate { get; }

    /// <summary>The cluster that its certificates are for.</summary>
    public ClusterId Cluster { get; }

    public static bool Exists(string folder) => File.Exists(Path.Combine(folder, KeyName))
        && File.Exists(Path.Combine(folder, CertificateFolder.AnchorsFile));

    /// <summary>Makes an authority with a new key, valid for 10 years.</summary>
    /// <exception cref="CertificateException">The folder holds one already.</exception>
    public static CertificateAuthority Create(string folder, ClusterId cluster, TimeProvider? time = null,
        IEntropy? entropy = null)
    {
        time ??= TimeProvider.System;
        entropy ??= SystemEntropy.Instance;
        var full = Path.GetFullPath(folder);
        if (File.Exists(Path.Combine(full, CertificateFolder.AnchorsFile)))
            throw new CertificateException(
                $"{full} holds a certificate authority, or its certificate, already. Give another folder: a new "
                + "authority there would make every certificate of the old one worthless.");
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = time.GetUtcNow();
        var serial = NewSerial(entropy);
        // A subject of its own: chains of two authorities of one cluster are told apart by it.
        var request = new CertificateRequest(
            new X500DistinguishedName($"CN=Corfu CA {Convert.ToHexStringLower(serial.AsSpan(0, 4))}"), key,
            HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, true, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddUri(new Uri(ClusterScheme + cluster));
        request.CertificateExtensions.Add(names.Build());
        using var certificate = request.Create(request.SubjectName, X509SignatureGenerator.CreateForECDsa(key),
            now - ClockTolerance, now.AddYears(LifetimeYears), serial);
        PrivateFolder.Create(full);
        // The certificate comes last: without it there is no authority, and the command may be repeated.
        DurableFile.ReplacePrivate(Path.Combine(full, KeyName),
            CertificateFiles.Encode(key.ExportPkcs8PrivateKeyPem()));
        DurableFile.Replace(Path.Combine(full, CertificateFolder.AnchorsFile),
            CertificateFiles.Encode(certificate.ExportCertificatePem()));
        return Open(full, time, entropy);
    }

    /// <exception cref="CertificateException">No authority there, or not a usable one.</exception>
    public static CertificateAuthority Open(string folder, TimeProvider? time = null, IEntropy? entropy = null)
    {
        var full = Path.GetFullPath(folder);
        var keyPath = Path.Combine(full, KeyName);
        if (!Exists(full))
            throw new CertificateException(
                $"There is no certificate authority in {full}: {CertificateFolder.AnchorsFile} or {KeyName} is "
                + $"missing. 'corfu cert init --dir {full}' makes one.");
        CertificateFiles.RequirePrivate(keyPath);
        var certificate = CertificateFiles.ReadCertificates(Path.Combine(full, CertificateFolder.AnchorsFile))[0];
        var key = CertificateFiles.ReadKey(keyPath);
        try
        {
            time ??= TimeProvider.System;
            if (!CertificateFiles.IsKeyOf(key, certificate))
                throw new CertificateException(
                    $"The key {keyPath} does not belong to the certificate beside it. Restore both from one copy.");
            if (ClusterOf(certificate) is not { } cluster)
                throw new CertificateException(
                    $"{full} is no authority of a cluster: its certificate names none. 'corfu cert init' makes one.");
            if (certificate.NotAfter.ToUniversalTime() <= time.GetUtcNow().UtcDateTime)
                throw new CertificateException(
                    $"The authority in {full} has expired ({Day(certificate.NotAfter)}). Make another with 'corfu cert "
                    + $"init --cluster {cluster}', and let 'corfu cert trust' spread it before it issues.");
            return new CertificateAuthority(full, certificate, key, cluster, time, entropy ?? SystemEntropy.Instance);
        }
        catch
        {
            key.Dispose();
            certificate.Dispose();
            throw;
        }
    }

    /// <summary>Makes a key and its certificate in a folder, with this authority as what the holder trusts.</summary>
    /// <exception cref="CertificateException">The order has faults, or the folder holds an identity.</exception>
    public X509Certificate2 IssueTo(string folder, CertificateOrder order)
    {
        var full = Path.GetFullPath(folder);
        RequireNone(full);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var certificate = Issue(order, new PublicKey(key));
        PrivateFolder.Create(full);
        CertificateFiles.AddAnchor(full, Certificate);
        CertificateFiles.WriteIdentity(full, key, [certificate]);
        return certificate;
    }

    /// <summary>Answers a request for a key that stays on its host. Of the request, the key alone counts; what the
    /// certificate says is the order's. The folder gets the certificate without the key, and <c>ca.pem</c>.</summary>
    /// <exception cref="CertificateException">The order has faults, or the request is none.</exception>
    public X509Certificate2 Answer(string requestFile, string folder, CertificateOrder order)
    {
        var full = Path.GetFullPath(folder);
        RequireNone(full);
        var certificate = Issue(order, CertificateFiles.ReadRequest(requestFile));
        PrivateFolder.Create(full);
        CertificateFiles.AddAnchor(full, Certificate);
        CertificateFiles.WriteIdentity(full, null, [certificate]);
        return certificate;
    }

    /// <summary>Replaces the identity in a folder by one with the same role, name and hosts and a new key. The folder
    /// is its holder's: only an authority's signature proves the role and the name.</summary>
    /// <param name="lifetime">Null: as long as that of the certificate before.</param>
    /// <param name="hosts">Empty: those of the certificate before.</param>
    /// <param name="previous">The cluster's authority before, whose certificates count too. Null: this authority's
    /// alone.</param>
    /// <exception cref="CertificateException">The folder holds no identity of this cluster that an authority issued, or
    /// does not trust this authority yet.</exception>
    public X509Certificate2 Renew(string folder, TimeSpan? lifetime = null,
        ImmutableArray<string> hosts = default, X509Certificate2? previous = null)
    {
        var full = Path.GetFullPath(folder);
        var path = Path.Combine(full, CertificateFolder.IdentityFile);
        using var old = CertificateFiles.ReadCertificates(path)[0];
        var uri = CertificateIdentity.Of(old, out var fault)
            ?? throw new CertificateException($"{path} cannot be renewed: {fault}.");
        if (uri.Cluster != Cluster)
            throw new CertificateException(
                $"{path} is of the cluster {uri.Cluster}; the authority in {_folder} is of {Cluster}.");
        var anchors = CertificateFiles.ReadCertificates(Path.Combine(full, CertificateFolder.AnchorsFile));
        if (anchors.All(anchor => anchor.Thumbprint != Certificate.Thumbprint))
            throw new CertificateException(
                $"{full} does not trust the authority in {_folder}, and so may its peers. First 'corfu cert trust --ca "
                + $"{_folder} --dir DIR' for every folder of the cluster, then renew.");
        if (!CertificateFiles.IsIssuedBy(old, Certificate)
            && !(previous is not null && CertificateFiles.IsIssuedBy(old, previous)))
            throw new CertificateException(
                $"{path} is not of the authority in {_folder}, so nothing proves its role and name. Name the authority "
                + "that issued it with 'corfu cert renew --previous', or issue a new identity with 'corfu cert "
                + "issue'.");
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var certificate = Issue(
            new CertificateOrder(uri.Role, uri.Name)
            {
                Hosts = hosts.IsDefaultOrEmpty ? HostsOf(old) : hosts,
                Lifetime = lifetime ?? Whole(old.NotAfter - old.NotBefore),
            },
            new PublicKey(key));
        CertificateFiles.WriteIdentity(full, key, [certificate]);
        return certificate;
    }

    /// <summary>The copy of a certificate that this authority issued; null if there is none.</summary>
    public X509Certificate2? Find(string serial)
    {
        var issued = Path.Combine(_folder, IssuedName);
        if (!Directory.Exists(issued) || !serial.All(char.IsAsciiHexDigit)) return null;
        var file = Directory.EnumerateFiles(issued, $"*-{serial.ToUpperInvariant()}.pem").FirstOrDefault();
        return file is null ? null : CertificateFiles.ReadCertificates(file)[0];
    }

    /// <summary>The files of the copies of all certificates that this authority issued, in the order of their
    /// names.</summary>
    public ImmutableArray<string> Issued()
    {
        var issued = Path.Combine(_folder, IssuedName);
        return Directory.Exists(issued)
            ? [.. Directory.EnumerateFiles(issued, "*.pem").Order(StringComparer.Ordinal)]
            : [];
    }

    public void Dispose()
    {
        _key.Dispose();
        Certificate.Dispose();
    }

    private X509Certificate2 Issue(CertificateOrder order, PublicKey key)
    {
        if (order.Faults() is { Count: > 0 } faults) throw new CertificateException(string.Join('\n', faults));
        var now = _time.GetUtcNow();
        var end = now + order.Lifetime;
        if (end.UtcDateTime > Certificate.NotAfter.ToUniversalTime())
            throw new CertificateException(
                $"The authority itself ends at {Day(Certificate.NotAfter)}: give fewer --days, or make a new "
                + "authority.");
        var serial = NewSerial(_entropy);
        var request = new CertificateRequest(new X500DistinguishedName($"CN={order.Name}"), key,
            HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(
            order.Role == AccessRole.Node ? [ServerAuthentication, ClientAuthentication] : [ClientAuthentication],
            false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(key, false));
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(Certificate, true, false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddUri(new Uri(new CertificateIdentity(Cluster, order.Role, order.Name).ToString()));
        foreach (var host in order.Hosts)
        {
            if (IPAddress.TryParse(host, out var address)) names.AddIpAddress(address);
            else names.AddDnsName(host);
        }

        request.CertificateExtensions.Add(names.Build());
        var certificate = request.Create(Certificate.SubjectName, X509SignatureGenerator.CreateForECDsa(_key),
            now - ClockTolerance, end, serial);
        Keep(certificate, order);
        return certificate;
    }

    // Before the certificate leaves: one that is lost at once can be revoked.
    private void Keep(X509Certificate2 certificate, CertificateOrder order)
    {
        var issued = Path.Combine(_folder, IssuedName);
        PrivateFolder.Create(issued);
        var role = order.Role.ToString().ToLowerInvariant();
        DurableFile.Replace(Path.Combine(issued, $"{role}-{order.Name}-{certificate.SerialNumber}.pem"),
            CertificateFiles.Encode(certificate.ExportCertificatePem()));
    }

    private static void RequireNone(string folder)
    {
        if (File.Exists(Path.Combine(folder, CertificateFolder.IdentityFile)))
            throw new CertificateException(
                $"{folder} holds an identity already: 'corfu cert renew' replaces it by a newer one of the same name.");
    }

    /// <summary>The cluster of an authority's own certificate; null for other certificates.</summary>
    public static ClusterId? ClusterOf(X509Certificate2 authority)
    {
        var named = CertificateIdentity.UrisOf(authority).FirstOrDefault(uri => uri.StartsWith(ClusterScheme,
            StringComparison.Ordinal));
        return Guid.TryParseExact(named?[ClusterScheme.Length..].TrimEnd('/'), "D", out var cluster)
            ? new ClusterId(cluster)
            : null;
    }

    /// <summary>The DNS names and IP addresses that a certificate names.</summary>
    public static ImmutableArray<string> HostsOf(X509Certificate2 certificate) =>
    [
        .. from names in certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>()
           from host in names.EnumerateDnsNames().Concat(names.EnumerateIPAddresses().Select(ip => ip.ToString()))
           select host,
    ];

    // Certificates begin a little before they are issued, for clocks that are behind.
    private static TimeSpan Whole(TimeSpan lifetime) => TimeSpan.FromDays(Math.Max(1, Math.Floor(lifetime.TotalDays)));

    private static string Day(DateTime moment) =>
        moment.ToUniversalTime().ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);

    // Positive and of one length: 16 bytes whose first bits are 01.
    private static byte[] NewSerial(IEntropy entropy)
    {
        var serial = entropy.NewGuid().ToByteArray();
        serial[0] = (byte)((serial[0] & 0x3F) | 0x40);
        return serial;
    }
}
