using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Etcd.Hosting;

/// <summary>Limits of a front end; in a node <c>limits.etcd</c> of <c>node.json</c>.</summary>
public sealed record EtcdLimits
{
    internal static readonly OptionRules<EtcdLimits> Rules = new OptionRules<EtcdLimits>(new())
        .AtLeast(o => o.MaxConnections, 1)
        .AtLeast(o => o.MaxStreamsPerConnection, 1)
        .AtLeast(o => o.MaxRequestBytes, 64 << 10)
        .AtLeast(o => o.MaxOperations, 1)
        .AtLeast(o => o.MaxWatchesPerStream, 1)
        .Above(o => o.ProgressEvery, TimeSpan.Zero);

    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    };

    /// <summary>Connections open at once; more are closed at once. Default 8,192.</summary>
    public int MaxConnections { get; init; } = 8_192;

    /// <summary>Calls and streams open at once on one connection; more wait. Default 4,096.</summary>
    public int MaxStreamsPerConnection { get; init; } = 4_096;

    /// <summary>Bytes of one request, as etcd's <c>--max-request-bytes</c>. A value has to fit into an entry of the log
    /// as well. Default 1.5 MiB.</summary>
    public int MaxRequestBytes { get; init; } = 3 << 19;

    /// <summary>Conditions or operations of one level of a transaction and of those that it is within, as etcd's
    /// <c>--max-txn-ops</c>. Default 128.</summary>
    public int MaxOperations { get; init; } = 128;

    /// <summary>Watches of one stream; more are refused. Default 65,536.</summary>
    public int MaxWatchesPerStream { get; init; } = 65_536;

    /// <summary>From one notice of a quiet watch with <c>progress_notify</c> to the next, as etcd's
    /// <c>--experimental-watch-progress-notify-interval</c>. Default 10 min.</summary>
    public TimeSpan ProgressEvery { get; init; } = TimeSpan.FromMinutes(10);

    /// <exception cref="CorfuException">A name is unknown, or a value is not allowed.</exception>
    public static EtcdLimits Read(JsonElement json)
    {
        try
        {
            var limits = json.Deserialize<EtcdLimits>(s_json) ?? new EtcdLimits();
            Rules.Check(limits);
            return limits;
        }
        catch (Exception e) when (e is JsonException or ArgumentException)
        {
            throw new CorfuException($"limits.etcd: {e.Message}", e);
        }
    }
}
