using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;

namespace Corfu.Security.Tests.Support;

/// <summary>A certificate with its key, of any faultiness: what <see cref="Hosting.CertificateAuthority"/> never
/// makes.</summary>
internal sealed class Certificate
{
    public const string ServerUse = "1.3.6.1.5.5.7.3.1";
    public const string ClientUse = "1.3.6.1.5.5.7.3.2";

    private readonly AsymmetricAlgorithm _key;

    private Certificate(X509Certificate2 certificate, AsymmetricAlgorithm key)
    {
        WithoutKey = certificate;
        _key = key;
    }

    public X509Certificate2 WithoutKey { get; }

    public X509Certificate2 WithKey => _key is ECDsa curve
        ? WithoutKey.CopyWithPrivateKey(curve)
        : WithoutKey.CopyWithPrivateKey((RSA)_key);

    public static Certificate Authority(string name = "Test CA", Certificate? issuer = null) =>
        Make(new Plan(name)
        {
            Issuer = issuer,
            IsAuthority = true,
            From = TimeSpan.FromDays(-400),
            Until = TimeSpan.FromDays(400),
        });

    public static Certificate Make(Plan plan)
    {
        var key = plan.Key ?? ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var subject = new X500DistinguishedName($"CN={plan.Subject}");
        var request = key is ECDsa curve
            ? new CertificateRequest(subject, curve, HashAlgorithmName.SHA256)
            : new CertificateRequest(subject, (RSA)key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(plan.IsAuthority, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(plan.IsAuthority
            ? X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign
            : plan.KeyUsage, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        if (plan.Uses.Length > 0)
        {
            var uses = new OidCollection();
            foreach (var use in plan.Uses) uses.Add(new Oid(use));
            request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(uses, false));
        }

        if (plan.Uris.Length > 0)
        {
            var names = new SubjectAlternativeNameBuilder();
            foreach (var uri in plan.Uris) names.AddUri(new Uri(uri));
            request.CertificateExtensions.Add(names.Build());
        }

        var issuer = plan.Issuer;
        if (issuer is not null)
            request.CertificateExtensions.Add(
                X509AuthorityKeyIdentifierExtension.CreateFromCertificate(issuer.WithoutKey, true, false));
        var now = DateTimeOffset.UtcNow;
        var signer = issuer?._key ?? key;
        var generator = signer is ECDsa signing
            ? X509SignatureGenerator.CreateForECDsa(signing)
            : X509SignatureGenerator.CreateForRSA((RSA)signer, RSASignaturePadding.Pkcs1);
        return new Certificate(
            request.Create(issuer?.WithoutKey.SubjectName ?? subject, generator, now + plan.From, now + plan.Until,
                Guid.NewGuid().ToByteArray()),
            key);
    }

    /// <summary>The content of a certificate.</summary>
    public sealed record Plan(string Subject)
    {
        public Certificate? Issuer { get; init; }

        public string[] Uris { get; init; } = [];

        public string[] Uses { get; init; } = [];

        public X509KeyUsageFlags KeyUsage { get; init; } = X509KeyUsageFlags.DigitalSignature;

        public AsymmetricAlgorithm? Key { get; init; }

        public TimeSpan From { get; init; } = TimeSpan.FromHours(-1);

        public TimeSpan Until { get; init; } = TimeSpan.FromDays(1);

        public bool IsAuthority { get; init; }

        public static Plan Of(Certificate issuer, ClusterId cluster, string role, string name) => new(name)
        {
            Issuer = issuer,
            Uris = [$"corfu://{cluster}/{role}/{name}"],
            Uses = role == "node" ? [ServerUse, ClientUse] : [ClientUse],
        };
    }
}
