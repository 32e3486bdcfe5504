using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Cli;

/// <summary>Objects that the tool prints with <c>--json</c>: part of its interface, so members are only ever
/// added.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ClusterJson))]
[JsonSerializable(typeof(CertificatesJson))]
[JsonSerializable(typeof(EntryJson))]
[JsonSerializable(typeof(TailJson))]
[JsonSerializable(typeof(StatusJson))]
[JsonSerializable(typeof(EpochJson))]
[JsonSerializable(typeof(LevelJson))]
[JsonSerializable(typeof(ObjectJson))]
[JsonSerializable(typeof(HistoryJson))]
[JsonSerializable(typeof(DeletionJson))]
[JsonSerializable(typeof(TrimResultJson))]
[JsonSerializable(typeof(RawStreamJson))]
[JsonSerializable(typeof(RetentionJson))]
[JsonSerializable(typeof(DoctorJson))]
[JsonSerializable(typeof(DrillRecord))]
[JsonSerializable(typeof(BackupSignature))]
[JsonSerializable(typeof(AuditEntry))]
internal sealed partial class CliJson : JsonSerializerContext
{
    /// <summary>Writes one object per line.</summary>
    public static CliJson Lines { get; } = new(CliJsonOptions.Create(indented: false));

    public static CliJson Indented { get; } = new(CliJsonOptions.Create(indented: true));
}
