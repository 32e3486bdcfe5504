namespace Craq;

/// <summary>Limits and times of a <see cref="CraqClient"/>.</summary>
public sealed record CraqClientOptions
{
    internal static readonly OptionRules<CraqClientOptions> Rules = new OptionRules<CraqClientOptions>(new())
        .Between(o => o.MaxValue, 1, MessageLimits.MaxFrame / 2)
        .Above(o => o.OperationTimeout, TimeSpan.Zero)
        .Above(o => o.RetryDelay, TimeSpan.Zero)
        .AtLeast(o => o.MaxRetryDelay, o => o.RetryDelay)
        .Above(o => o.AvoidTime, TimeSpan.Zero)
        .Above(o => o.UnknownChainTimeout, TimeSpan.Zero)
        .AtLeast(o => o.MaxChains, 1);

    public static readonly CraqClientOptions Default = new();

    /// <summary>The datacenter of this process: reads go to its replicas while one of them answers. Null: to all
    /// replicas alike.</summary>
    public string? Datacenter { get; init; }

    /// <summary>Bytes of a value. At most what the nodes accept. Default 1 MiB.</summary>
    public int MaxValue { get; init; } = 1 << 20;

    /// <summary>An operation that cannot be finished for so long is given up. Default 10 s.</summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>First pause before another round of attempts; doubles, with jitter, up to <see cref="MaxRetryDelay"/>.
    /// Default 2 ms.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(2);

    /// <summary>Default 200 ms; at least <see cref="RetryDelay"/>.</summary>
    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>Reads pass over a replica for so long after it did not answer; twice as long with each further time, up
    /// to 16 times. Default 1 s.</summary>
    public TimeSpan AvoidTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A chain that nodes answer and do not know for so long does not exist. Default 1 s.</summary>
    public TimeSpan UnknownChainTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Chains that the client remembers. Default 131,072.</summary>
    public int MaxChains { get; init; } = 131_072;

    /// <summary>Connections. A request without an answer for <see cref="TcpTransportOptions.RequestTimeout"/>, here 1
    /// s, makes the client ask other nodes.</summary>
    public TcpTransportOptions Tcp { get; init; } = new() { RequestTimeout = TimeSpan.FromSeconds(1) };

    /// <summary>Certificates, where the connection string is <c>craqs://</c>.</summary>
    public TlsOptions Tls { get; init; } = new();

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
