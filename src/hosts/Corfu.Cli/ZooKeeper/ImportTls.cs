using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Cli;

/// <summary>Options of <c>corfu zookeeper import</c> for a ZooKeeper with TLS (its <c>secureClientPort</c>).</summary>
internal sealed class ImportTls
{
    private readonly Option<FileInfo?> _authorities = new("--tls-ca")
    {
        Description = "Connect by TLS to a server with a certificate of one of these authorities.",
        HelpName = "PEM",
    };

    private readonly Option<FileInfo?> _certificate = new("--tls-cert")
    {
        Description = "This program's certificate and key, for a server that asks for one.",
        HelpName = "PEM",
    };

    public IEnumerable<Option> All => [_authorities, _certificate];

    /// <returns>Null: the connection is plain.</returns>
    /// <exception cref="UsageException">A file cannot be read, or has no certificate.</exception>
    public SslClientAuthenticationOptions? Read(ParseResult result, string host)
    {
        var certificate = result.GetValue(_certificate);
        if (result.GetValue(_authorities) is not { } authorities)
        {
            return certificate is null ? null : throw new UsageException("--tls-cert needs --tls-ca.");
        }

        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
        };
        Load(authorities, path => policy.CustomTrustStore.ImportFromPemFile(path));
        if (policy.CustomTrustStore.Count == 0) throw new UsageException($"{authorities} has no certificate.");
        var options = new SslClientAuthenticationOptions { TargetHost = host, CertificateChainPolicy = policy };
        if (certificate is not null)
            Load(certificate, path => options.ClientCertificates = [X509Certificate2.CreateFromPemFile(path)]);
        return options;
    }

    private static void Load(FileInfo file, Action<string> load)
    {
        try
        {
            load(file.FullName);
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            throw new UsageException($"{file} cannot be read: {e.Message}");
        }
    }
}
