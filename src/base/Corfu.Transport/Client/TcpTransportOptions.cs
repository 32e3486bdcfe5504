using System.Net;

namespace Corfu.Transport;

/// <summary>Limits of a client's connections.</summary>
public sealed record TcpTransportOptions
{
    internal static readonly OptionRules<TcpTransportOptions> Rules = new OptionRules<TcpTransportOptions>(new())
        .Must(o => o.Role, o => o.Role is >= AccessRole.Client and <= AccessRole.Node, "client, admin or node")
        .Above(o => o.ConnectTimeout, TimeSpan.Zero)
        .AtLeast(o => o.RequestTimeout, TimeSpan.FromMilliseconds(8))
        .Above(o => o.FirstBackOff, TimeSpan.Zero)
        .AtLeast(o => o.MaxBackOff, o => o.FirstBackOff)
        .Above(o => o.IdleTimeout, TimeSpan.Zero)
        .AtLeast(o => o.MaxInFlight, 1)
        .AtLeast(o => o.MaxOutputBuffer, 1)
        .AtLeast(o => o.ReceiveBuffer, MessageCodec.HeaderSize)
        .Must(o => o.NeverPlain, o => !o.NeverPlain || o.Tls is not null, "false without certificates (Tls)");

    /// <summary>The one cluster to connect to. With none, nodes can only be asked for their description.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>The connections have no more rights than this: a process that acts for others gives up what it does not
    /// need. Default node: all that the certificate allows.</summary>
    public AccessRole Role { get; init; } = AccessRole.Node;

    /// <summary>The address that connections are made from; without TLS servers count by it. Default: the system
    /// chooses.</summary>
    public IPAddress? LocalAddress { get; init; }

    /// <summary>Connecting and shaking hands together. Default 3 s.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>A request without an answer after this long fails; up to a quarter later. Default 10 s.</summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>After a failed attempt, requests fail at once for this long, then double that, up to <see
    /// cref="MaxBackOff"/>. Default 10 ms.</summary>
    public TimeSpan FirstBackOff { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>Default 500 ms; at least <see cref="FirstBackOff"/>.</summary>
    public TimeSpan MaxBackOff { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>A connection without requests for this long is closed; below the server's idle time-out. Default 2
    /// min.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>Requests in flight on one connection; more fail with nothing sent. Default 32,768.</summary>
    public int MaxInFlight { get; init; } = 32768;

    /// <summary>Bytes of requests waiting for a slow node beyond which more fail with nothing sent. Default 64
    /// MiB.</summary>
    public int MaxOutputBuffer { get; init; } = 64 << 20;

    /// <summary>Size of a connection's receive buffer; larger frames get memory of their own. Default 128
    /// KiB.</summary>
    public int ReceiveBuffer { get; init; } = 128 << 10;

    /// <summary>Runs continuations of all answers on the connection's receiving thread: fastest, and only for callers
    /// that never block, since that stops every other answer. Default false: only requests that say so are taken
    /// there.</summary>
    public bool InlineContinuations { get; init; }

    /// <summary>Certificates of this process, which stay the caller's. Null: connections are plain. Default
    /// null.</summary>
    public ClusterTls? Tls { get; init; }

    /// <summary>Connections are encrypted or fail, also where the mode of <see cref="Tls"/> is
    /// <see cref="TlsMode.Both"/>. Default false.</summary>
    public bool NeverPlain { get; init; }

    /// <summary>For tests of a later version.</summary>
    internal WireProtocol Protocol { get; init; } = WireProtocol.Current;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
