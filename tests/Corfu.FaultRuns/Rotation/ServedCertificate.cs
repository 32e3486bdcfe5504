using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Rotation;

/// <summary>The certificate with which a node serves now.</summary>
internal static class ServedCertificate
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <returns>The serial number of the certificate; empty if the node does not answer.</returns>
    public static async Task<string> SerialAsync(NodeEndpoint endpoint, ClusterTls tls, CancellationToken stop)
    {
        var serial = "";
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(Patience);
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(endpoint.Host, endpoint.Port, limit.Token);
            await using var stream = new SslStream(client.GetStream());
            await stream.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions
                {
                    TargetHost = endpoint.Host,
                    ApplicationProtocols = [ClusterTls.Protocol],
                    ClientCertificateContext = tls.Source.Current.Context,
                    RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                    {
                        serial = (certificate as X509Certificate2)?.SerialNumber ?? "";
                        return true;
                    },
                },
                limit.Token);
        }
        catch (Exception e) when (e is SocketException or IOException or AuthenticationException
            || (e is OperationCanceledException && !stop.IsCancellationRequested))
        {
            return "";
        }

        return serial;
    }
}
