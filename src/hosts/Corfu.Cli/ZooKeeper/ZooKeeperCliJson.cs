using System.Text.Json;
using System.Text.Json.Serialization;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary>Objects that <c>corfu zookeeper</c> prints with <c>--json</c>: part of its interface, so members are only
/// ever added.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ZNodeJson))]
[JsonSerializable(typeof(TreeMount))]
[JsonSerializable(typeof(TreeSettingsJson))]
internal sealed partial class ZooKeeperCliJson : JsonSerializerContext
{
    /// <summary>Writes one object per line.</summary>
    public static ZooKeeperCliJson Lines { get; } = new(CliJsonOptions.Create(indented: false));
}
