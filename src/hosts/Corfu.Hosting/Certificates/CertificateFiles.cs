using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Corfu.Hosting;

/// <summary>The files of an identity, as commands write them: <c>ca.pem</c> (what the holder trusts) and
/// <c>identity.pem</c> (key, certificate and intermediates in one file). Each changes by one rename, so that a running
/// process reads the old one or the new one.</summary>
public static class CertificateFiles
{
    /// <summary>A key that waits for its certificate.</summary>
    public const string PendingKeyName = "request-key.pem";

    public const string RequestName = "request.pem";

    private const UnixFileMode Others = UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.GroupExecute
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite | UnixFileMode.OtherExecute;

    /// <summary>Makes a key and a request for its certificate. The key never leaves the folder.</summary>
    /// <returns>The path of the request.</returns>
    public static string MakeRequest(string folder)
    {
        var full = Path.GetFullPath(folder);
        PrivateFolder.Create(full);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        // The authority's operator says for whom the certificate is; the request proves that its sender has the key.
        var request = new CertificateRequest("CN=corfu-request", key, HashAlgorithmName.SHA256);
        var path = Path.Combine(full, RequestName);
        DurableFile.ReplacePrivate(Path.Combine(full, PendingKeyName), Encode(key.ExportPkcs8PrivateKeyPem()));
        DurableFile.Replace(path, Encode(request.CreateSigningRequestPem()));
        return path;
    }

    /// <summary>Joins the key of <see cref="MakeRequest"/> and the certificate that answers it.</summary>
    /// <param name="answer">The folder that the authority wrote, or its <c>identity.pem</c>.</param>
    /// <exception cref="CertificateException">Nothing was requested, or the certificate is of another key.</exception>
    public static X509Certificate2 TakeAnswer(string folder, string answer)
    {
        var full = Path.GetFullPath(folder);
        var keyPath = Path.Combine(full, PendingKeyName);
        if (!File.Exists(keyPath))
            throw new CertificateException(
                $"No request waits in {full}: {PendingKeyName} is missing. 'corfu cert request --dir {full}' makes "
                + "one.");
        var file = Directory.Exists(answer) ? Path.Combine(answer, CertificateFolder.IdentityFile) : answer;
        var chain = ReadCertificates(file);
        using var key = ReadKey(keyPath);
        if (!IsKeyOf(key, chain[0]))
            throw new CertificateException(
                $"The certificate in {file} is not for the key in {keyPath}. Issue it for the {RequestName} beside "
                + "that key.");
        var anchors = Path.Combine(Path.GetDirectoryName(Path.GetFullPath(file))!, CertificateFolder.AnchorsFile);
        var own = Path.Combine(full, CertificateFolder.AnchorsFile);
        if (!File.Exists(own))
        {
            if (!File.Exists(anchors))
                throw new CertificateException(
                    $"{own} is missing, and so is {anchors}. Copy {CertificateFolder.AnchorsFile} of the authority to "
                    + "one of them.");
            WriteAnchors(full, ReadCertificates(anchors));
        }

        WriteIdentity(full, key, chain);
        File.Delete(keyPath);
        File.Delete(Path.Combine(full, RequestName));
        return chain[0];
    }

    /// <summary>Adds an authority to what the holder of a folder trusts.</summary>
    /// <returns>False if it was there.</returns>
    public static bool AddAnchor(string folder, X509Certificate2 authority)
    {
        var path = Path.Combine(folder, CertificateFolder.AnchorsFile);
        ImmutableArray<X509Certificate2> anchors = File.Exists(path) ? ReadCertificates(path) : [];
        if (anchors.Any(anchor => anchor.Thumbprint == authority.Thumbprint)) return false;
        WriteAnchors(folder, anchors.Add(authority));
        return true;
    }

    /// <summary>Makes an authority the only one that the holder of a folder trusts.</summary>
    /// <exception cref="CertificateException">The folder's own certificate is of another one.</exception>
    public static void KeepAnchor(string folder, X509Certificate2 authority)
    {
        var path = Path.Combine(folder, CertificateFolder.IdentityFile);
        if (File.Exists(path))
        {
            using var own = ReadCertificates(path)[0];
            if (!IsIssuedBy(own, authority))
                throw new CertificateException(
                    $"{path} was issued by another authority, which peers would no longer trust. First 'corfu cert "
                    + "renew' with the authority that stays, for every folder of the cluster.");
        }

        WriteAnchors(folder, [authority]);
    }

    /// <summary>The certificates in a PEM file, in its order; at least one.</summary>
    /// <exception cref="CertificateException">Not there, not readable, or without a certificate.</exception>
    public static ImmutableArray<X509Certificate2> ReadCertificates(string path)
    {
        var text = ReadText(path);
        try
        {
            var found = new X509Certificate2Collection();
            found.ImportFromPem(text);
            return found.Count > 0
                ? [.. found]
                : throw new CertificateException($"There is no certificate in {path}: it is no PEM file of one.");
        }
        catch (CryptographicException e)
        {
            throw new CertificateException($"A certificate in {path} cannot be read: {e.Message}", e);
        }
    }

    /// <exception cref="CertificateException">Not there, not readable, or no ECDSA key.</exception>
    internal static ECDsa ReadKey(string path)
    {
        var text = ReadText(path);
        var key = ECDsa.Create();
        try
        {
            key.ImportFromPem(text);
            return key;
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            key.Dispose();
            throw new CertificateException($"There is no ECDSA key in {path}: {e.Message}", e);
        }
    }

    /// <summary>The public key of a request, whose sender has the private one.</summary>
    /// <exception cref="CertificateException">Not there, no request, or of another kind of key.</exception>
    internal static PublicKey ReadRequest(string path)
    {
        var text = ReadText(path);
        try
        {
            var request = CertificateRequest.LoadSigningRequestPem(text, HashAlgorithmName.SHA256);
            using var key = request.PublicKey.GetECDsaPublicKey();
            if (key is null || key.ExportParameters(false).Curve.Oid.Value != ECCurve.NamedCurves.nistP256.Oid.Value)
                throw new CertificateException(
                    $"The request {path} is not of an ECDSA P-256 key. 'corfu cert request' makes one that is.");
            return request.PublicKey;
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new CertificateException($"There is no valid certificate request in {path}: {e.Message}", e);
        }
    }

    /// <exception cref="CertificateException">Other users of the machine can read it.</exception>
    internal static void RequirePrivate(string path)
    {
        if (OperatingSystem.IsWindows() || (File.GetUnixFileMode(path) & Others) == UnixFileMode.None) return;
        throw new CertificateException(
            $"Other users of this machine can read the key in {path}. 'chmod 600 {path}', and take a new key if one "
            + "of them may have.");
    }

    /// <param name="key">Null where the key stays on its own host.</param>
    internal static void WriteIdentity(string folder, ECDsa? key, ImmutableArray<X509Certificate2> chain)
    {
        var pem = string.Concat(chain.Select(certificate => certificate.ExportCertificatePem() + "\n"));
        if (key is not null) pem = key.ExportPkcs8PrivateKeyPem() + "\n" + pem;
        DurableFile.ReplacePrivate(Path.Combine(folder, CertificateFolder.IdentityFile), Encoding.ASCII.GetBytes(pem));
    }

    internal static bool IsKeyOf(ECDsa key, X509Certificate2 certificate) =>
        certificate.PublicKey.ExportSubjectPublicKeyInfo().AsSpan().SequenceEqual(key.ExportSubjectPublicKeyInfo());

    internal static byte[] Encode(string pem) => Encoding.ASCII.GetBytes(pem + "\n");

    private static void WriteAnchors(string folder, ImmutableArray<X509Certificate2> anchors) => DurableFile.Replace(
        Path.Combine(folder, CertificateFolder.AnchorsFile),
        Encoding.ASCII.GetBytes(string.Concat(anchors.Select(anchor => anchor.ExportCertificatePem() + "\n"))));

    internal static bool IsIssuedBy(X509Certificate2 certificate, X509Certificate2 authority)
    {
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(authority);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.DisableCertificateDownloads = true;
        chain.ChainPolicy.VerificationFlags = X509VerificationFlags.IgnoreNotTimeValid;
        return chain.Build(certificate);
    }

    private static string ReadText(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new CertificateException($"The file {path} cannot be read: {e.Message}", e);
        }
    }
}
