using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Corfu.Cli;

/// <summary>The certificates that running nodes serve with.</summary>
internal static class ServedCertificate
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>Asks each endpoint of a connection string. Where it names a folder of certificates, what that folder's
    /// holder would say against the node's certificate is a fault.</summary>
    public static async Task<CertificatesJson> ReadAsync(string text, CancellationToken cancellationToken)
    {
        if (!ConnectionString.TryParse(text, out var connection, out var fault)) throw new UsageException(fault);
        if (!connection.IsTls)
            throw new UsageException($"'{text}' is of nodes that speak without TLS; give corfus://HOST:PORT.");
        using var tls = ClusterTls.Open(new TlsOptions
        {
            Folder = connection.Certificates ?? Environment.GetEnvironmentVariable(CertificateFolder.Variable),
        });
        var certificates = new List<CertificateJson>();
        var faults = new List<string>();
        foreach (var endpoint in connection.Endpoints)
        {
            var (certificate, sent) = await ReadAsync(endpoint, tls, cancellationToken);
            certificates.Add(CertificateJson.Of(certificate, endpoint.ToString()));
            if (tls?.Verify(certificate, sent, server: true).Reason is { } reason) faults.Add($"{endpoint}: {reason}.");
        }

        if (tls is null)
            faults.Add(
                $"Not checked: the connection string names no '?certs=DIR', and {CertificateFolder.Variable} is not "
                + "set.");
        return new CertificatesJson(certificates, faults);
    }

    private static async Task<(X509Certificate2 Certificate, X509Certificate2Collection Sent)> ReadAsync(
        NodeEndpoint endpoint, ClusterTls? tls, CancellationToken cancellationToken)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(Patience);
        X509Certificate2? found = null;
        var sent = new X509Certificate2Collection();
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = endpoint.Host,
            ApplicationProtocols = [ClusterTls.Protocol],
            EnabledSslProtocols = SslProtocols.Tls13,
            ClientCertificateContext = tls?.Source.Current.Context,

            // A chain that was not given would be looked for at addresses that the certificate names.
            CertificateChainPolicy = new X509ChainPolicy
            {
                DisableCertificateDownloads = true,
                RevocationMode = X509RevocationMode.NoCheck,
            },

            // Everything is shown; the verdict comes after.
            RemoteCertificateValidationCallback = (_, certificate, chain, _) =>
            {
                if (certificate is not null)
                    found = X509CertificateLoader.LoadCertificate(certificate.GetRawCertData());
                foreach (var other in chain?.ChainPolicy.ExtraStore ?? [])
                    sent.Add(X509CertificateLoader.LoadCertificate(other.RawData));
                return true;
            },
        };
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(endpoint.Host, endpoint.Port, deadline.Token);
            await using var stream = new SslStream(client.GetStream());
            await stream.AuthenticateAsClientAsync(options, deadline.Token);
            return (found!, sent);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new CertificateException(
                $"{endpoint} does not answer within {Patience.TotalSeconds} s. Does the node run?");
        }
        catch (Exception e) when (e is SocketException or IOException or AuthenticationException)
        {
            throw new CertificateException(
                $"{endpoint} does not answer with TLS: {e.Message} Does the node run, and has it certificates "
                + "('tls' in node.json)?", e);
        }
    }
}
