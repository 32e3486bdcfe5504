using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Salus.Coordination;
using Salus.Region.Body;
using Salus.Region.Scrub;
using Salus.Store.Log;

namespace Salus.Hosting;

/// <summary>Settings of a Salus node: <c>settings</c> of the role <c>BlockStore</c> in a node's configuration
/// file.</summary>
public sealed record SalusNodeSettings
{
    // A setting that has a default is no init property: the generated reader would give it none.

    private static readonly OptionRules<SalusNodeSettings> s_rules = new OptionRules<SalusNodeSettings>(new())
        .Must(o => o.Domain, static o => Encoding.UTF8.GetByteCount(o.Domain) <= CoordinationLimits.MaxName,
            $"a name of at most {CoordinationLimits.MaxName} bytes")
        .Between(o => o.LeaseTime, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1))
        .AtLeast(o => o.IndexCache, 1L << 20)
        .AtLeast(o => o.Memtables, 1L << 20)
        .AtLeast(o => o.ScrubSpeed, 0)
        .Above(o => o.ScrubPause, TimeSpan.Zero);

    /// <summary>Machines that fail together have the same, a rack or a host of virtual machines for instance: the
    /// copies of a region are placed in different ones. Default: the machine fails alone.</summary>
    public string Domain { get; set; } = "";

    /// <summary>The node serves what its store has to recoveries of other nodes, and is a member of no region: for a
    /// machine that is to be emptied. Default false.</summary>
    public bool StoreOnly { get; set; }

    /// <summary>A node whose registration is not renewed for so long counts as gone; regions are moved away from it
    /// then. Default 5 s.</summary>
    public TimeSpan LeaseTime { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Memory for index pages of regions, in bytes. Default 256 MiB.</summary>
    public long IndexCache { get; set; } = RegionBodies.DefaultIndexCache;

    /// <summary>Bytes of blocks in memory, of all regions, from which on they are written to checkpoint files earlier.
    /// Default 256 MiB.</summary>
    public long Memtables { get; set; } = 256 << 20;

    /// <summary>Bytes of checkpoint files, and as many of the log, that are read in a second to find damage before it
    /// matters; what is damaged comes from other nodes. 0: nothing is read for that, and what reads find damaged is
    /// mended alone. Default 8 MiB.</summary>
    public long ScrubSpeed { get; set; } = 8 << 20;

    /// <summary>Pause between two searches, and before a file or record is asked for again that no node has given.
    /// Default 1 minute.</summary>
    public TimeSpan ScrubPause { get; set; } = TimeSpan.FromMinutes(1);

    /// <inheritdoc cref="StoreOptions.LogMemory"/>
    public long? LogMemory { get; init; }

    /// <inheritdoc cref="StoreOptions.SegmentSize"/>
    public int? SegmentSize { get; init; }

    /// <inheritdoc cref="StoreOptions.LogLimit"/>
    public long? LogLimit { get; init; }

    /// <inheritdoc cref="StoreOptions.Headroom"/>
    public long? Headroom { get; init; }

    internal ScrubOptions Scrub => new() { BytesPerSecond = ScrubSpeed, Pause = ScrubPause };

    internal StoreOptions Store
    {
        get
        {
            var standard = new StoreOptions();
            return standard with
            {
                LogMemory = LogMemory ?? standard.LogMemory,
                SegmentSize = SegmentSize ?? standard.SegmentSize,
                LogLimit = LogLimit ?? standard.LogLimit,
                Headroom = Headroom ?? standard.Headroom,
            };
        }
    }

    /// <summary>Settings for nodes of which several share a machine with other work.</summary>
    internal static SalusNodeSettings Small { get; } =
        new()
        {
            SegmentSize = 16 << 20,
            LogMemory = 32 << 20,
            LogLimit = 256 << 20,
            IndexCache = 32 << 20,
            Memtables = 64 << 20,
        };

    /// <summary>As a configuration file has them.</summary>
    public JsonElement ToJson() => JsonSerializer.SerializeToElement(this, SalusJson.Default.SalusNodeSettings);

    /// <exception cref="JsonException">A name is unknown, or a value is not of its type.</exception>
    internal static SalusNodeSettings Read(JsonElement? json) =>
        json?.Deserialize(SalusJson.Default.SalusNodeSettings) ?? new SalusNodeSettings();

    /// <summary>A sentence for each fault.</summary>
    internal IEnumerable<string> Faults() => s_rules.FaultsOf(this).Concat(Store.Faults());
}

[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    WriteIndented = true,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(SalusNodeSettings))]
[JsonSerializable(typeof(SalusManifest))]
internal sealed partial class SalusJson : JsonSerializerContext;
