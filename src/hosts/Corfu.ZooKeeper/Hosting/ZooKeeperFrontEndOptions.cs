using System.Net;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>A front end of one tree.</summary>
/// <param name="Listen">Port 0: any port that is free.</param>
public sealed record ZooKeeperFrontEndOptions(IPEndPoint Listen)
{
    /// <summary>Name of the service: its tree is the object <c>zookeeper/SERVICE</c>. Default <c>main</c>.</summary>
    public string Service { get; init; } = "main";

    /// <summary><c>user:digest</c> of the operator, who may do everything. Null: there is none.</summary>
    public string? SuperDigest { get; init; }

    /// <summary>TLS of the clients' port, with a certificate of a node; stays the caller's. Clients need certificates
    /// of the same authority, with the role of a client at least. Null: connections are plain.</summary>
    public ClusterTls? Tls { get; init; }

    /// <summary>Default: <see cref="ZooKeeperReads.Session"/>.</summary>
    public ZooKeeperReads Reads { get; init; }

    /// <summary>While the log does not answer, clients that allow it (<c>readOnly</c>, as <c>canBeReadOnly</c> in
    /// ZooKeeper's own client) read the newest state that the front end knows; their writes are refused with -119. They
    /// connect again when the log is back. Not together with linearizable reads. Default: off.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>Mounts of partitions that are played from the start; others are once a client needs them. Default: all
    /// partitions.</summary>
    public ImmutableArray<string> Host { get; init; }

    public ZooKeeperLimits Limits { get; init; } = new();

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;
}
