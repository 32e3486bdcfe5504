using Microsoft.Extensions.Logging;

namespace Craq.Connecting;

/// <summary>The one place that decides whether a client's connections are encrypted, and with which
/// certificate.</summary>
internal static class CraqTls
{
    /// <summary>The options of a transport for a connection string: with its certificates and its cluster.</summary>
    /// <param name="owned">The part that the caller disposes after the transport; null where there is none.</param>
    /// <exception cref="CertificateException">There are no certificates, or they are of no use; or the string asks for
    /// plain connections to another machine, and nothing says <c>insecure</c>.</exception>
    public static TcpTransportOptions Apply(CraqConnectionString connection, TcpTransportOptions tcp,
        TlsOptions options, out ClusterTls? owned, ILogger? logger)
    {
        owned = null;

        // A process that has certificates for itself connects with those.
        if (tcp.Tls is null) owned = Open(connection, options, logger);
        var tls = tcp.Tls ?? owned;
        var cluster = connection.Cluster.IsNone ? tls?.Identity.Cluster ?? tcp.Cluster : connection.Cluster;
        if (tls is null || tls.Identity.Cluster == cluster)
            return tcp with { Tls = tls, Cluster = cluster, NeverPlain = connection.IsTls || tcp.NeverPlain };
        var own = tls.Identity.Cluster;
        owned?.Dispose();
        throw new CertificateException($"The connection string is for cluster {cluster}, and the certificate is for "
            + $"{own}: use the folder of the right cluster.");
    }

    private static ClusterTls? Open(CraqConnectionString connection, TlsOptions options, ILogger? logger)
    {
        if (!connection.IsTls)
        {
            if (connection.IsLoopback || connection.IsInsecure || options.Insecure) return null;
            throw new CertificateException($"Connections to {connection.Endpoints[0]} would not be encrypted: use "
                + $"{CraqConnectionString.TlsScheme} with certificates, or add '?insecure' to accept that.");
        }

        var folder = options.Folder ?? connection.Certificates
            ?? Environment.GetEnvironmentVariable(CertificateFolder.Variable);
        return ClusterTls.Open(options with { Folder = folder }, logger: logger)
            ?? throw new CertificateException($"{CraqConnectionString.TlsScheme} needs a certificate: name its folder "
                + $"with '?certs=DIR' or {CertificateFolder.Variable}; 'corfu cert issue --role client --to DIR' makes "
                + "one.");
    }
}
