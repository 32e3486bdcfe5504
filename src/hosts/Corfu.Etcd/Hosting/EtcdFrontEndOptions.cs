using System.Net;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Etcd.Hosting;

/// <summary>A front end of one store.</summary>
/// <param name="Listen">Port 0: any port that is free.</param>
public sealed record EtcdFrontEndOptions(IPEndPoint Listen)
{
    /// <summary>Name of the service: its store is the object <c>etcd/SERVICE</c>. Default <c>main</c>.</summary>
    public string Service { get; init; } = "main";

    /// <summary>Address that members are listed with, as <c>http://10.0.0.1:2379</c>. Null: as it listens, and the name
    /// of this machine where it listens at all addresses.</summary>
    public string? Advertise { get; init; }

    /// <summary>TLS, with a certificate of a node; stays the caller's. Clients need certificates of the same authority.
    /// Null: connections are plain.</summary>
    public ClusterTls? Tls { get; init; }

    public EtcdLimits Limits { get; init; } = new();

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;
}
