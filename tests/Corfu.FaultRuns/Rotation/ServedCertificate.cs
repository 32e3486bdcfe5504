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
    /// <returns>The serial number of the certificate; empty if the node does not answer.</returns>
    public static async Task<string> SerialAsync(NodeEndpoint endpoint, ClusterTls tls, CancellationToken stop)
    {
        var serial = "";
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(endpoint.Host, endpoint.Port, stop);
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
                stop);
        }
        catch (Exception e) when (e is SocketException or IOException or AuthenticationException)
        {
            return "";
        }

        return serial;
    }
}
