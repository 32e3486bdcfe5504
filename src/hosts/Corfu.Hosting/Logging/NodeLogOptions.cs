using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Corfu.Hosting;

/// <summary>The log of a node: <c>log</c> in its configuration file. A text stands for a file of plain
/// lines.</summary>
[JsonConverter(typeof(NodeLogOptionsConverter))]
public sealed record NodeLogOptions
{
    /// <summary>A line for each event, for people.</summary>
    public const string Plain = "plain";

    /// <summary>A JSON object a line, for collectors.</summary>
    public const string Json = "json";

    /// <summary>Relative to the configuration file; null: the console.</summary>
    public string? File { get; init; }

    /// <summary><see cref="Plain"/> or <see cref="Json"/>. Default plain.</summary>
    public string Format { get; init; } = Plain;

    /// <summary>The least level of categories that begin with a name, as <c>Corfu.Agent: Debug</c>; the longest name
    /// counts. Default Information for all.</summary>
    public ImmutableSortedDictionary<string, LogLevel> Levels { get; init; } =
        ImmutableSortedDictionary.Create<string, LogLevel>(StringComparer.Ordinal);

    [JsonIgnore]
    internal bool IsJson => Format == Json;

    public static implicit operator NodeLogOptions?(string? file) =>
        file is null ? null : new NodeLogOptions { File = file };

    internal IEnumerable<string> Faults()
    {
        if (Format is not (Plain or Json)) yield return $"Log: '{Format}' is no format; there are plain and json.";
        if (File is "") yield return "Log: the file has no name; leave 'file' out to write to the console.";
    }
}

/// <summary>A text, as configurations had before, or an object.</summary>
internal sealed class NodeLogOptionsConverter : JsonConverter<NodeLogOptions>
{
    public override NodeLogOptions Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        if (reader.TokenType == JsonTokenType.String) return new NodeLogOptions { File = reader.GetString() };
        var stored = JsonSerializer.Deserialize(ref reader, StoredType(options))!;
        return new NodeLogOptions
        {
            File = stored.File,
            Format = stored.Format ?? NodeLogOptions.Plain,
            Levels = (stored.Levels ?? []).ToImmutableSortedDictionary(
                level => level.Key, level => LevelOf(level.Value), StringComparer.Ordinal),
        };
    }

    public override void Write(Utf8JsonWriter writer, NodeLogOptions value, JsonSerializerOptions options)
    {
        if (value is { IsJson: false, File: { } file, Levels.IsEmpty: true })
        {
            writer.WriteStringValue(file);
            return;
        }

        JsonSerializer.Serialize(writer, new StoredLogOptions
        {
            File = value.File,
            Format = value.IsJson ? value.Format : null,
            Levels = value.Levels.IsEmpty
                ? null
                : value.Levels.ToDictionary(level => level.Key, level => level.Value.ToString()),
        }, StoredType(options));
    }

    private static JsonTypeInfo<StoredLogOptions> StoredType(JsonSerializerOptions options) =>
        (JsonTypeInfo<StoredLogOptions>)options.GetTypeInfo(typeof(StoredLogOptions));

    private static LogLevel LevelOf(string name) =>
        Enum.TryParse<LogLevel>(name, ignoreCase: true, out var level) && Enum.IsDefined(level)
            ? level
            : throw new JsonException(
                $"'{name}' is no level of a log; there are {string.Join(", ", Enum.GetNames<LogLevel>())}.");
}

/// <summary>As it stands in the file.</summary>
internal sealed record StoredLogOptions
{
    public string? File { get; init; }

    public string? Format { get; init; }

    public Dictionary<string, string>? Levels { get; init; }
}
