using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>Limits of all clients of a front end together; in a node <c>limits.zookeeper</c> of
/// <c>node.json</c>.</summary>
public sealed record ZooKeeperLimits
{
    internal static readonly OptionRules<ZooKeeperLimits> Rules = new OptionRules<ZooKeeperLimits>(new())
        .AtLeast(o => o.MaxConnections, 1)
        .AtLeast(o => o.MaxConnectionsPerAddress, 0)
        .AtLeast(o => o.MaxBufferedBytes, 4L << 20)
        .AtLeast(o => o.MaxWatchBytes, 64L << 10);

    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    };

    /// <summary>Connections open at once; more are closed at once. Default 8,192.</summary>
    public int MaxConnections { get; init; } = 8_192;

    /// <summary>Connections that one address may have, as ZooKeeper's <c>maxClientCnxns</c>; 0: as many. Default
    /// 60.</summary>
    public int MaxConnectionsPerAddress { get; init; } = 60;

    /// <summary>Bytes of requests without a reply, and of packets that clients have not taken, of all connections.
    /// Beyond, the connection that holds most is closed; while requests are half of it, no socket is read. Default 256
    /// MiB, at least 4 MiB.</summary>
    public long MaxBufferedBytes { get; init; } = 256L << 20;

    /// <summary>Bytes of the watches of all connections: 200 for each, and two for each character of its path. Beyond,
    /// the connection that has most is closed. Default 512 MiB, at least 64 KiB.</summary>
    public long MaxWatchBytes { get; init; } = 512L << 20;

    /// <exception cref="CorfuException">A name is unknown, or a value is not allowed.</exception>
    public static ZooKeeperLimits Read(JsonElement json)
    {
        try
        {
            var limits = json.Deserialize<ZooKeeperLimits>(s_json) ?? new ZooKeeperLimits();
            Rules.Check(limits);
            return limits;
        }
        catch (Exception e) when (e is JsonException or ArgumentException)
        {
            throw new CorfuException($"limits.zookeeper: {e.Message}", e);
        }
    }
}
