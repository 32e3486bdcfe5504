namespace Corfu.ZooKeeper.Connections;

/// <summary>Reasons for which a front end closes a connection, as its meter tells them.</summary>
internal static class CloseReason
{
    /// <summary>There are too many connections, or too many of the address.</summary>
    public const string Limit = "limit";

    /// <summary>The handshake of TLS failed.</summary>
    public const string Handshake = "handshake";

    /// <summary>The client does not take its packets.</summary>
    public const string Slow = "slow";

    /// <summary>The connection held most when all together held too much.</summary>
    public const string Memory = "memory";

    /// <summary>The log did not take a write, or its fate is not known.</summary>
    public const string Log = "log";

    /// <summary>Writes came back in another order than they were sent.</summary>
    public const string Order = "order";
}
