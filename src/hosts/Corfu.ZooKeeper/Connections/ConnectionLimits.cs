namespace Corfu.ZooKeeper.Connections;

/// <summary>Limits of one connection.</summary>
internal static class ConnectionLimits
{
    /// <summary>Requests without a reply; beyond, the socket is not read.</summary>
    public const int Requests = 1024;

    /// <summary>Writes of all connections that the log has not answered; beyond, no socket is read. A beat of the
    /// front end stands behind them, and must come within the lease.</summary>
    public const int Writes = 8192;

    /// <summary>Bytes of such requests; one request may have more.</summary>
    public const long InputBytes = 4L << 20;

    /// <summary>Packets that the client has not taken; beyond, the slow reader is closed.</summary>
    public const int OutputBytes = 16 << 20;

    /// <summary>The first frame must have come by then.</summary>
    public static readonly TimeSpan Handshake = TimeSpan.FromSeconds(10);
}
