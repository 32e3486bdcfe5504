using System.Text.Json;
using System.Text.Json.Serialization;
using Corfu.ZooKeeper.Hosting;

namespace Corfu.Cli;

/// <summary><c>settings</c> of a node's front end of ZooKeeper's protocol, as the options of <c>corfu zookeeper
/// serve</c>.</summary>
internal sealed record ZooKeeperNodeSettings
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase, allowIntegerValues: false) },
    };

    public string Service { get; init; } = "main";

    public ZooKeeperReads Reads { get; init; }

    public bool ReadOnly { get; init; }

    public string? SuperDigest { get; init; }

    /// <param name="json">Null: the defaults.</param>
    /// <exception cref="CorfuException">A name is unknown, or a value is not allowed.</exception>
    public static ZooKeeperNodeSettings Read(JsonElement? json)
    {
        try
        {
            var settings = json?.Deserialize<ZooKeeperNodeSettings>(s_json) ?? new ZooKeeperNodeSettings();
            if (string.IsNullOrEmpty(settings.Service))
                throw new CorfuException("The front end zookeeper: settings.service is empty.");
            return settings is { ReadOnly: true, Reads: ZooKeeperReads.Linearizable }
                ? throw new CorfuException(
                    "The front end zookeeper: readOnly and linearizable reads exclude each other.")
                : settings;
        }
        catch (JsonException e)
        {
            throw new CorfuException($"The front end zookeeper: settings: {e.Message}", e);
        }
    }
}
