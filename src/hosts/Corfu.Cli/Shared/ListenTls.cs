using System.Net;

namespace Corfu.Cli;

/// <summary>TLS of a command that listens for clients.</summary>
internal static class ListenTls
{
    public static Option<DirectoryInfo?> CertsOption() => new("--certs")
    {
        Description = "The folder of a certificate ('corfu cert issue --role node'): clients need TLS, and a "
            + "certificate of the same authority.",
        HelpName = "DIR",
    };

    public static Option<bool> InsecureOption() => new("--insecure")
    {
        Description = "Plain connections at an address other than loopback: anyone on the network can listen.",
    };

    /// <returns>Null: connections are plain.</returns>
    /// <exception cref="UsageException">The options contradict each other, or the address.</exception>
    public static ClusterTls? Open(IPEndPoint at, DirectoryInfo? certs, bool insecure)
    {
        if (certs is not null && insecure) throw new UsageException("--certs and --insecure exclude each other.");
        if (certs is not null) return ClusterTls.Open(new TlsOptions { Folder = certs.FullName });
        return insecure || IPAddress.IsLoopback(at.Address)
            ? null
            : throw new UsageException($"{at.Address} is no loopback address, and connections are plain: --certs "
                + "encrypts them, --insecure allows them.");
    }
}
