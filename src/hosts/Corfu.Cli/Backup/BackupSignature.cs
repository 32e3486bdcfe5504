using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Corfu.Backup;
using Corfu.Storage;

namespace Corfu.Cli;

/// <summary>The signature of a backup's manifest, which has the hash of every file: a writer of the folder alone
/// changes nothing unnoticed.</summary>
/// <param name="Certificates">The signer's certificate and its intermediates, PEM.</param>
/// <param name="Signature">ECDSA over SHA-256 of the manifest, base 64.</param>
internal sealed record BackupSignature(string Certificates, string Signature)
{
    public const string FileName = "manifest.sig";

    /// <summary>Signs the manifest as it is now.</summary>
    /// <param name="identity">A folder of an identity, or its <c>identity.pem</c>.</param>
    /// <exception cref="BackupException">The identity cannot sign.</exception>
    public static void Sign(string folder, string identity)
    {
        var file = Directory.Exists(identity) ? Path.Combine(identity, CertificateFolder.IdentityFile) : identity;
        try
        {
            var pem = File.ReadAllText(file);
            using var signer = X509Certificate2.CreateFromPem(pem, pem);
            RequireRole(signer, null);
            using var key = signer.GetECDsaPrivateKey()
                ?? throw new BackupException($"The key in {file} is no ECDSA key, as 'corfu cert issue' makes.");
            var chain = new X509Certificate2Collection();
            chain.ImportFromPem(pem);
            var signature = new BackupSignature(chain.ExportCertificatePems(), Convert.ToBase64String(
                key.SignData(File.ReadAllBytes(ManifestOf(folder)), HashAlgorithmName.SHA256)));
            DurableFile.Replace(Path.Combine(folder, FileName),
                JsonSerializer.SerializeToUtf8Bytes(signature, CliJson.Lines.BackupSignature));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException
            or ArgumentException)
        {
            throw new BackupException(
                $"The backup is whole and not signed: {e.Message} Give --sign a folder with identity.pem.", e);
        }
    }

    /// <summary>Requires a signature of an administrator or a node of the backup's cluster.</summary>
    /// <param name="authority">A folder with <c>ca.pem</c>, or such a file.</param>
    /// <returns>The signer.</returns>
    /// <exception cref="BackupException">There is none, or it is not of this manifest.</exception>
    public static CertificateIdentity Verify(string folder, string authority)
    {
        try
        {
            var bytes = File.ReadAllBytes(ManifestOf(folder));
            var manifest = BackupManifest.Decode(bytes);
            var signature = JsonSerializer.Deserialize(
                File.ReadAllBytes(Path.Combine(folder, FileName)), CliJson.Lines.BackupSignature)!;
            var sent = new X509Certificate2Collection();
            sent.ImportFromPem(signature.Certificates);
            if (sent.Count == 0) throw Unsigned(folder, "it has no certificate");
            RequireChain(sent, AnchorsOf(authority), manifest.Written);
            var signer = RequireRole(sent[0], new ClusterId(manifest.Cluster));
            using var key = sent[0].GetECDsaPublicKey();
            return key?.VerifyData(
                bytes, Convert.FromBase64String(signature.Signature), HashAlgorithmName.SHA256) == true
                ? signer
                : throw Unsigned(folder,
                    "it is of another manifest: files were changed, or the last run was cut short");
        }
        catch (FileNotFoundException e)
        {
            throw new BackupException($"The backup in {folder} is not signed: {e.Message}", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException
            or ArgumentException or JsonException or FormatException)
        {
            throw Unsigned(folder, e.Message);
        }
    }

    private static string ManifestOf(string folder) => Path.Combine(folder, BackupManifest.FileName);

    private static X509Certificate2Collection AnchorsOf(string authority)
    {
        var anchors = new X509Certificate2Collection();
        anchors.ImportFromPemFile(Directory.Exists(authority)
            ? Path.Combine(authority, CertificateFolder.AnchorsFile)
            : authority);
        return anchors;
    }

    // A certificate that has ended since signed when it was valid.
    private static void RequireChain(X509Certificate2Collection sent, X509Certificate2Collection anchors,
        DateTimeOffset written)
    {
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.AddRange(anchors);
        chain.ChainPolicy.ExtraStore.AddRange(sent);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.DisableCertificateDownloads = true;
        chain.ChainPolicy.VerificationTime = written.LocalDateTime;
        if (chain.Build(sent[0])) return;
        throw new BackupException("The backup's signature is of a certificate that this authority has not issued, or "
            + $"that was not valid then: {chain.ChainStatus.FirstOrDefault().StatusInformation.Trim()}");
    }

    private static CertificateIdentity RequireRole(X509Certificate2 certificate, ClusterId? cluster)
    {
        var identity = CertificateIdentity.Of(certificate, out var reason)
            ?? throw new BackupException($"A backup is signed by an identity of the cluster: {reason}.");
        if (identity.Role < AccessRole.Admin)
            throw new BackupException($"{identity} may not sign backups: take an administrator's certificate.");
        return cluster is { } own && identity.Cluster != own
            ? throw new BackupException($"{identity} signed, and the backup is of the cluster {own}.")
            : identity;
    }

    private static BackupException Unsigned(string folder, string why) =>
        new($"The signature of the backup in {folder} does not hold: {why}. Do not restore it.");
}
