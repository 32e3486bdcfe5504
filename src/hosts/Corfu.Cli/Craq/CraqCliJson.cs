using System.Text.Encodings.Web;
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
internal sealed partial class CraqCliJson : JsonSerializerContext
{
    /// <summary>Writes one object per line, and text as it is instead of escapes.</summary>
    public static CraqCliJson Lines { get; } = new(new JsonSerializerOptions(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    });

    public static CraqCliJson Indented { get; } = new(new JsonSerializerOptions(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        WriteIndented = true,
    });
}
