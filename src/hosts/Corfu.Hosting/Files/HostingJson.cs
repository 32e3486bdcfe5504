using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Hosting;

/// <summary>The files of a cluster folder: indented JSON, camel case, unknown members refused.</summary>
[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    WriteIndented = true,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ClusterManifest))]
[JsonSerializable(typeof(NodeConfig))]
[JsonSerializable(typeof(StoredLogOptions))]
[JsonSerializable(typeof(FolderIdentity))]
[JsonSerializable(typeof(AgentMemory))]
[JsonSerializable(typeof(ReloadOutcome))]
[JsonSerializable(typeof(byte[]))]
internal sealed partial class HostingJson : JsonSerializerContext;
