using System.Net;

namespace Corfu.Hosting;

/// <summary>The rules that a node's own certificate must meet.</summary>
internal static class NodeCertificate
{
    /// <param name="folder">The folder of the certificate, for messages.</param>
    /// <param name="listen">As <see cref="NodeOptions.Listen"/>.</param>
    /// <exception cref="CertificateException">The certificate is not a node's, or not of this address.</exception>
    public static void Require(TlsCredentials credentials, string folder, string listen)
    {
        var identity = credentials.Identity;
        if (identity.Role != AccessRole.Node)
            throw new CertificateException(
                $"The certificate in {folder} is of {identity}; a process of the cluster needs one of a node: 'corfu "
                + "cert issue --role node'.");
        if (!NodeEndpoint.TryParse(listen, out var endpoint)) return;
        var hosts = CertificateAuthority.HostsOf(credentials.Certificate);
        if (hosts.Any(host => IsSame(host, endpoint.Host))) return;
        throw new CertificateException(
            $"The certificate in {folder} is of the hosts {string.Join(", ", hosts)}, and the node listens at "
            + $"{endpoint.Host}. 'corfu cert renew --ca CA --dir {folder} --host {endpoint.Host}' adds the address.");
    }

    private static bool IsSame(string host, string other) =>
        IPAddress.TryParse(host, out var first) && IPAddress.TryParse(other, out var second)
            ? first.Equals(second)
            : string.Equals(host, other, StringComparison.OrdinalIgnoreCase);
}
