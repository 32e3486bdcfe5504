using System.Collections.Immutable;
using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Transport;

/// <summary>The rules that a certificate must meet. A fault is the rest of a sentence, and says what to do.</summary>
internal static class PeerRules
{
    private const string ServerUse = "1.3.6.1.5.5.7.3.1";
    private const string ClientUse = "1.3.6.1.5.5.7.3.2";

    /// <summary>RSA and ECDSA with SHA-1, RSA with MD5.</summary>
    private static readonly string[] WeakSignatures =
        ["1.2.840.113549.1.1.4", "1.2.840.113549.1.1.5", "1.2.840.10045.4.1"];

    /// <summary>Anchors are <c>ca.pem</c> alone, and nothing is downloaded.</summary>
    public static X509ChainPolicy Policy(X509Certificate2Collection anchors, DateTimeOffset now, bool? server)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
            VerificationTime = now.LocalDateTime,
        };
        policy.CustomTrustStore.AddRange(anchors);
        if (server is { } isServer) policy.ApplicationPolicy.Add(new Oid(isServer ? ServerUse : ClientUse));
        return policy;
    }

    /// <summary>The identity that a certificate states, or that a mapping gives it.</summary>
    /// <param name="cluster">The cluster of mapped identities.</param>
    public static CertificateIdentity? IdentityOf(X509Certificate2 certificate,
        ImmutableArray<CertificateMapping> map, ClusterId cluster, out string reason)
    {
        var stated = CertificateIdentity.Of(certificate, out reason);
        if (stated is not null || map.IsEmpty) return stated;
        try
        {
            if (map.FirstOrDefault(rule => rule.Covers(certificate)) is { } rule)
                return new CertificateIdentity(cluster, rule.Role, rule.Name);
        }
        catch (MalformedDataException e)
        {
            reason = e.Message;
            return null;
        }

        reason += $", and no entry of tls.map covers '{certificate.Subject}'";
        return null;
    }

    /// <param name="server">Which use the certificate must allow; null: both, as for a process's own.</param>
    public static string? FaultOfChain(X509Certificate2 certificate, X509Certificate2Collection sent,
        X509Certificate2Collection anchors, DateTimeOffset now, bool? server = null)
    {
        using var chain = new X509Chain();

        // The certificate's own times have their own rule: the chain is judged as of a time when it was valid.
        var begin = new DateTimeOffset(certificate.NotBefore.ToUniversalTime()).AddSeconds(1);
        var end = new DateTimeOffset(certificate.NotAfter.ToUniversalTime()).AddSeconds(-1);
        chain.ChainPolicy = Policy(anchors, now < begin ? begin : now > end ? end : now, server);
        chain.ChainPolicy.ExtraStore.AddRange(sent);
        var sound = chain.Build(certificate);
        try
        {
            if (sound) return FaultOfKey(certificate);
            var flags = chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, s) => all | s.Status);
            return Reason(certificate, flags, chain.ChainStatus);
        }
        finally
        {
            foreach (var element in chain.ChainElements) element.Certificate.Dispose();
        }
    }

    /// <summary>Key and signature: strength, and what the key may be used for.</summary>
    public static string? FaultOfKey(X509Certificate2 certificate)
    {
        using var rsa = certificate.GetRSAPublicKey();
        using var curve = certificate.GetECDsaPublicKey();
        if (rsa is null ? curve is null or { KeySize: < 256 } : rsa.KeySize < 2048)
            return "the certificate's key is weak; issue one with ECDSA P-256, or RSA with 2,048 bits or more";
        if (WeakSignatures.Contains(certificate.SignatureAlgorithm.Value))
            return "the certificate is signed with a broken hash; issue one with SHA-256";
        foreach (var extension in certificate.Extensions)
        {
            switch (extension)
            {
                case X509BasicConstraintsExtension { CertificateAuthority: true }:
                    return "the certificate is an authority's; use one that it issued";
                case X509KeyUsageExtension uses when !uses.KeyUsages.HasFlag(X509KeyUsageFlags.DigitalSignature):
                    return "the certificate's key usage lacks digital signatures; issue one that has them";
            }
        }

        return null;
    }

    /// <param name="grace">For nodes: how long past its end a certificate counts.</param>
    public static string? FaultOfTime(X509Certificate2 certificate, AccessRole role, DateTimeOffset now,
        TimeSpan grace)
    {
        var begin = new DateTimeOffset(certificate.NotBefore.ToUniversalTime());
        var end = new DateTimeOffset(certificate.NotAfter.ToUniversalTime());
        if (now < begin)
        {
            return $"the certificate is valid from {Text(begin)} on, and it is {Text(now)} here; compare the clocks of "
                + "both hosts";
        }

        var last = role == AccessRole.Node ? end + grace : end;
        return now <= last
            ? null
            : $"the certificate ended at {Text(end)}, and it is {Text(now)} here; renew it with 'corfu cert renew'";
    }

    private static string Reason(X509Certificate2 certificate, X509ChainStatusFlags flags, X509ChainStatus[] statuses)
    {
        if ((flags & (X509ChainStatusFlags.PartialChain | X509ChainStatusFlags.UntrustedRoot)) != 0)
        {
            return $"the certificate's issuer '{certificate.Issuer}' leads to no certificate of the other side's "
                + "ca.pem; use a certificate of the cluster's CA, with its intermediates, or add the CA to ca.pem";
        }

        if (flags.HasFlag(X509ChainStatusFlags.NotValidForUsage))
            return "the certificate's extended key usage does not allow this side of TLS; issue one that does";
        if (flags.HasFlag(X509ChainStatusFlags.NotTimeValid))
            return "a certificate above it has ended or is not valid yet; compare clocks, or renew the CA";
        return "the certificate's chain is damaged: "
            + string.Join(' ', statuses.Select(static s => s.StatusInformation.Trim()));
    }

    private static string Text(DateTimeOffset time) =>
        time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
}
