using Grpc.Net.Client;

namespace Corfu.Grpc.Client;

/// <summary>Limits and times of a <see cref="GrpcCorfuLog"/>.</summary>
public sealed record GrpcLogOptions
{
    internal static readonly OptionRules<GrpcLogOptions> Rules = new OptionRules<GrpcLogOptions>(new())
        .AtLeast(o => o.MaxAppendsInFlight, 1)
        .AtLeast(o => o.MaxAppendsWaiting, 0)
        .AtLeast(o => o.MaxBatchEntries, 1)
        .AtLeast(o => o.MaxBatchBytes, 1)
        .AtLeast(o => o.MaxReceiveMessage, 1)
        .Above(o => o.ConnectTimeout, TimeSpan.Zero)
        .Above(o => o.PingTimeout, TimeSpan.Zero)
        .Above(o => o.OperationTimeout, TimeSpan.Zero)
        .Above(o => o.RetryDelay, TimeSpan.Zero);

    public static readonly GrpcLogOptions Default = new();

    /// <summary>Appends in flight; more wait. Default 4,096, which is also the front end's.</summary>
    public int MaxAppendsInFlight { get; init; } = 4096;

    /// <summary>Appends that wait for others to end; more are refused with
    /// <see cref="Corfu.Client.LogOverloadedException"/>. Default 65,536.</summary>
    public int MaxAppendsWaiting { get; init; } = 65536;

    /// <summary>Entries in one message, when so many wait. Default 256.</summary>
    public int MaxBatchEntries { get; init; } = 256;

    /// <summary>Payload bytes at which a message is full; an entry that is larger goes alone. Default 1 MiB.</summary>
    public int MaxBatchBytes { get; init; } = 1 << 20;

    /// <summary>Bytes of one message from a front end. Default 8 MiB.</summary>
    public int MaxReceiveMessage { get; init; } = MessageLimits.MaxFrame;

    /// <summary>How long a front end may take to accept a connection before the next one is tried. Default 2
    /// s.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>A front end that has not answered a ping for so long counts as gone. Default 10 s.</summary>
    public TimeSpan PingTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>An operation that no front end can finish for so long is given up. Default 30 s.</summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Pause before another attempt, once every front end has failed. Default 50 ms.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>The caller's certificate, and what front ends' certificates must lead to, for <c>https</c>. Without a
    /// folder or a source: <c>?certs=DIR</c> behind the addresses, else the environment variable <c>CORFU_CERTS</c>.
    /// Without these too, front ends are checked against the machine's certificates, and no caller is named.
    /// <c>http</c> is for loopback alone, unless <see cref="TlsOptions.Insecure"/> allows it elsewhere.</summary>
    public TlsOptions Tls { get; init; } = new();

    /// <summary>Changes what each front end's channel is made with: credentials, metadata of every call (call
    /// credentials), another handler. Default nothing.</summary>
    public Action<GrpcChannelOptions>? ConfigureChannel { get; init; }

    /// <summary>All faults in one message.</summary>
    public void Validate() => Rules.Check(this);
}
