using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Cli;

/// <summary>Objects that <c>corfu craq</c> prints with <c>--json</c>, under the rules of
/// <see cref="CliJson"/>.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(CraqJson))]
[JsonSerializable(typeof(CraqChainJson))]
[JsonSerializable(typeof(CraqChainJson[]))]
[JsonSerializable(typeof(CraqObjectJson))]
[JsonSerializable(typeof(CraqCheckJson))]
internal sealed partial class CraqCliJson : JsonSerializerContext
{
    /// <summary>Writes one object per line.</summary>
    public static CraqCliJson Lines { get; } = new(CliJsonOptions.Create(indented: false));

    public static CraqCliJson Indented { get; } = new(CliJsonOptions.Create(indented: true));
}
