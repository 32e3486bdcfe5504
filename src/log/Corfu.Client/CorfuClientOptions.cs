using Corfu.Client.Layout;

namespace Corfu.Client;

/// <summary>Limits and times of a <see cref="CorfuClient"/>.</summary>
public sealed record CorfuClientOptions
{
    internal static readonly OptionRules<CorfuClientOptions> Rules = new OptionRules<CorfuClientOptions>(new())
        .Between(o => o.MaxPayload, 1, MessageLimits.MaxFrame / 2)
        .AtLeast(o => o.MaxAppendsInFlight, 1)
        .AtLeast(o => o.MaxAppendsWaiting, 0)
        .AtLeast(o => o.MaxAppendBytesWaiting, 1)
        .AtLeast(o => o.ChecksInFlight, 1)
        .Above(o => o.OperationTimeout, TimeSpan.Zero)
        .Above(o => o.RetryDelay, TimeSpan.Zero)
        .AtLeast(o => o.MaxRetryDelay, o => o.RetryDelay)
        .Above(o => o.RefreshInterval, TimeSpan.Zero)
        .Above(o => o.SuccessorTimeout, TimeSpan.Zero)
        .Above(o => o.HoleWait, TimeSpan.Zero)
        .Above(o => o.ConfirmTimeout, TimeSpan.Zero)
        .Above(o => o.SlowCheckDelay, TimeSpan.Zero)
        .Above(o => o.ReadTimeout, TimeSpan.Zero);

    public static readonly CorfuClientOptions Default = new();

    /// <summary>Bytes of an entry's payload. At most what the cluster's units accept. Default 1 MiB.</summary>
    public int MaxPayload { get; init; } = EntryLimits.DefaultMaxPayload;

    /// <summary>Appends in flight; more wait. Default 4,096.</summary>
    public int MaxAppendsInFlight { get; init; } = 4096;

    /// <summary>Appends that wait for others to end; more are refused with <see cref="LogOverloadedException"/>.
    /// Default 65,536.</summary>
    public int MaxAppendsWaiting { get; init; } = 65536;

    /// <summary>Bytes of payloads of appends that wait or are in flight; further appends are refused with
    /// <see cref="LogOverloadedException"/>. A lone append is never refused for its size. Default 256 MiB.</summary>
    public long MaxAppendBytesWaiting { get; init; } = 256L << 20;

    /// <summary>Checks in flight; callers meanwhile share the next one. Default 4.</summary>
    public int ChecksInFlight { get; init; } = 4;

    /// <summary>After this long without confirming the epoch, another chain is asked too. Default 20 ms.</summary>
    public TimeSpan ConfirmTimeout { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>After this long without the sequencer's answer, a check asks the units. Default 100 ms.</summary>
    public TimeSpan SlowCheckDelay { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>An operation that cannot be finished for so long is given up. Default 30 s.</summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>First pause before another attempt; doubles, with jitter, up to <see cref="MaxRetryDelay"/>. Default 1
    /// ms.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Default 200 ms; at least <see cref="RetryDelay"/>.</summary>
    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>While a node does not answer, the acceptors are asked for a newer projection: first at this interval,
    /// later at a tenth of the time without an answer, and at least every <see cref="MaxRetryDelay"/>. Default 10
    /// ms.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>When nodes are sealed and no next projection is decided for so long, its proposer counts as dead: the
    /// same membership is proposed. Default 1 s.</summary>
    public TimeSpan SuccessorTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a granted position may stay unwritten before it is filled. Covers the way of a message
    /// between two processes: a write that has arrived at the head is no hole. Useful are 4 to 20 ms; default
    /// 10.</summary>
    public TimeSpan HoleWait { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>After this long, a read of committed pages goes to another full replica. Default 100 ms.</summary>
    public TimeSpan ReadTimeout { get; init; } = TimeSpan.FromMilliseconds(100);

    public TcpTransportOptions Tcp { get; init; } = new();

    /// <summary>Certificates, where the connection string is <c>corfus://</c>.</summary>
    public TlsOptions Tls { get; init; } = new();

    public LayoutClientOptions Layout { get; init; } = new();

    public ReconfigurerOptions Reconfiguration { get; init; } = new();

    /// <summary>All faults in one message.</summary>
    public void Validate() => Rules.Check(this);
}
