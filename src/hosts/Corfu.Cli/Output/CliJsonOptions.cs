using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Cli;

/// <summary>How the tool writes JSON: text as it is instead of escapes, members without a value left out.</summary>
internal static class CliJsonOptions
{
    /// <summary>Makes options for one context, which binds them to itself.</summary>
    public static JsonSerializerOptions Create(bool indented) => new(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        WriteIndented = indented,
    };
}
