namespace Corfu.Transport;

/// <summary>Limits of a client's connections.</summary>
public sealed record TcpTransportOptions
{
    /// <summary>The one cluster to connect to. With none, nodes can only be asked for their description.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>Connecting and shaking hands together.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>A request without an answer after this long fails; up to a quarter later.</summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>After a failed attempt, requests fail at once for this long, then double that, up to
    /// <see cref="MaxBackOff"/>.</summary>
    public TimeSpan FirstBackOff { get; init; } = TimeSpan.FromMilliseconds(10);

    public TimeSpan MaxBackOff { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>A connection without requests for this long is closed; below the server's idle time-out.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>Requests in flight on one connection; more fail with nothing sent.</summary>
    public int MaxInFlight { get; init; } = 32768;

    /// <summary>Bytes of requests waiting for a slow node beyond which more fail with nothing sent.</summary>
    public int MaxOutputBuffer { get; init; } = 64 << 20;

    /// <summary>Size of a connection's receive buffer; larger frames get memory of their own.</summary>
    public int ReceiveBuffer { get; init; } = 128 << 10;

    /// <summary>Runs continuations of answers on the connection's receiving thread: fastest, and only for callers that
    /// never block, since that stops every other answer.</summary>
    public bool InlineContinuations { get; init; }

    /// <summary>For tests of a later version.</summary>
    internal WireProtocol Protocol { get; init; } = WireProtocol.Current;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(TcpTransportOptions),
        (nameof(ConnectTimeout), ConnectTimeout > TimeSpan.Zero),
        (nameof(RequestTimeout), RequestTimeout >= TimeSpan.FromMilliseconds(8)),
        (nameof(FirstBackOff), FirstBackOff > TimeSpan.Zero),
        (nameof(MaxBackOff), MaxBackOff >= FirstBackOff),
        (nameof(IdleTimeout), IdleTimeout > TimeSpan.Zero),
        (nameof(MaxInFlight), MaxInFlight > 0),
        (nameof(MaxOutputBuffer), MaxOutputBuffer > 0),
        (nameof(ReceiveBuffer), ReceiveBuffer >= MessageCodec.HeaderSize));
}
