using System.Net;
using Corfu.Client;
using Microsoft.Extensions.Logging.Abstractions;
using Salus.Nbd;

namespace Salus.Hosting;

/// <summary>Volumes that one process serves over NBD.</summary>
/// <param name="Connection">The connection string of the log.</param>
/// <param name="Volumes">Names of volumes, or <c>VOLUME@SNAPSHOT</c> for a read-only export. Empty: every volume with
/// its snapshots, those that are made later too.</param>
/// <param name="Listen">Port 0: any port that is free.</param>
public sealed record VolumeServerOptions(string Connection, ImmutableArray<string> Volumes, IPEndPoint Listen)
{
    /// <summary>Limits and times of the mounted volumes.</summary>
    public SalusClientOptions Client { get; init; } = SalusClientOptions.Default;

    /// <summary>Limits of the listener. Default: clients wait 90 s for a mount, which itself waits for stores that are
    /// away, since only they may prove what was committed.</summary>
    public NbdServerOptions Nbd { get; init; } =
        NbdServerOptions.Default with { MountTimeout = TimeSpan.FromSeconds(90) };

    /// <summary>TLS of the listener, with a certificate of a node; stays the caller's. Clients of NBD need certificates
    /// of the same authority, with the role of a client at least. Null: their connections are plain.</summary>
    public ClusterTls? Tls { get; init; }

    /// <summary>TLS to the log and the nodes; stays the caller's. Null: as the connection string says.</summary>
    public ClusterTls? ClientTls { get; init; }

    /// <summary>Allows plain connections at an address other than loopback. Default false.</summary>
    public bool Insecure { get; init; }

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    /// <summary>A sentence for each fault.</summary>
    public IEnumerable<string> Faults()
    {
        foreach (var twice in Volumes.GroupBy(name => name).Where(same => same.Count() > 1))
            yield return $"The volume '{twice.Key}' is named twice.";
        if (Tls is not null && Insecure) yield return "A certificate and plain connections exclude each other.";
        if (!IPAddress.IsLoopback(Listen.Address) && Tls is null && !Insecure)
            yield return $"{Listen.Address} is no loopback address, and NBD without TLS neither encrypts nor "
                + "authenticates: name the folder of a certificate, or say that plain connections are wanted.";
    }
}
