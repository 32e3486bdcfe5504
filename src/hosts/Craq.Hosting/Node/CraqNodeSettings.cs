using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Craq.Hosting.Memcached;
using Craq.Storage;

namespace Craq.Hosting;

/// <summary>Settings of a CRAQ node: <c>settings</c> of the role <c>Craq</c> in a node's configuration file.</summary>
public sealed record CraqNodeSettings
{
    public const string DefaultDatacenter = "default";

    /// <summary>The datacenter of the node, for placements and for its readers. Default <c>default</c>.</summary>
    public string Datacenter { get; init; } = DefaultDatacenter;

    /// <summary>Listeners for memcached's protocols, each as <c>[ADDRESS:]PORT=MODE[@KEYSPACE]</c>. Default:
    /// none.</summary>
    public ImmutableArray<string> Memcached { get; init; } = [];

    /// <summary>Allows memcached listeners at other addresses than loopback, where anyone on the network can read and
    /// write. Default false.</summary>
    public bool OpenMemcached { get; init; }

    /// <summary>A node whose registration is not renewed for so long counts as gone. Default 3 s.</summary>
    public TimeSpan LeaseTime { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>Memory for the newest part of the index of objects, a power of two; null: as on a server of its
    /// own, 256 MiB.</summary>
    public long? IndexMemory { get; init; }

    /// <summary>The index's hash table in bytes, a power of two; null: 32 MiB.</summary>
    public long? IndexSize { get; init; }

    /// <summary>The size of a file of the node's log, a power of two; null: 32 MiB.</summary>
    public int? SegmentSize { get; init; }

    internal ImmutableArray<MemcachedOptions> Listeners =>
    [
        .. (Memcached.IsDefault ? [] : Memcached)
            .Select(text => MemcachedOptions.TryParse(text, out var own, out _) ? own : null)
            .OfType<MemcachedOptions>(),
    ];

    internal NodeStoreOptions Store
    {
        get
        {
            var standard = new NodeStoreOptions();
            return standard with
            {
                IndexMemory = IndexMemory ?? standard.IndexMemory,
                IndexSize = IndexSize ?? standard.IndexSize,
                SegmentSize = SegmentSize ?? standard.SegmentSize,
            };
        }
    }

    /// <summary>Settings for nodes of which several share a machine with other work.</summary>
    internal static CraqNodeSettings Small { get; } = new() { IndexMemory = 16 << 20, IndexSize = 1 << 20 };

    /// <summary>As a configuration file has them.</summary>
    public JsonElement ToJson() => JsonSerializer.SerializeToElement(this, CraqJson.Default.CraqNodeSettings);

    /// <exception cref="JsonException">A name is unknown, or a value is not of its type.</exception>
    internal static CraqNodeSettings Read(JsonElement? json) =>
        json?.Deserialize(CraqJson.Default.CraqNodeSettings) ?? new CraqNodeSettings();

    /// <summary>A sentence for each fault.</summary>
    internal IEnumerable<string> Faults()
    {
        if (string.IsNullOrWhiteSpace(Datacenter) || Encoding.UTF8.GetByteCount(Datacenter) > ChainConfig.MaxName)
            yield return $"datacenter is '{Datacenter}': it must have 1 to {ChainConfig.MaxName} bytes.";
        if (LeaseTime < TimeSpan.FromSeconds(1) || LeaseTime > TimeSpan.FromMinutes(1))
            yield return $"leaseTime is {LeaseTime}: it must be 1 s to 1 min, default 3 s.";
        foreach (var text in Memcached.IsDefault ? [] : Memcached)
        {
            if (!MemcachedOptions.TryParse(text, out var listener, out var fault)) yield return $"memcached: {fault}";
            else if (!listener.IsLoopback && !OpenMemcached)
                yield return $"memcached: {listener.Listen} is not a loopback address, and the protocol neither "
                    + "encrypts nor authenticates: set openMemcached to accept that.";
        }

        foreach (var fault in NodeStoreOptions.Rules.FaultsOf(Store)) yield return fault;
    }
}

[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    WriteIndented = true,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(CraqNodeSettings))]
[JsonSerializable(typeof(CraqManifest))]
internal sealed partial class CraqJson : JsonSerializerContext;
