using System.Security.Cryptography;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Hosting;

/// <summary>A line of an audit file.</summary>
/// <param name="Node">The node that wrote the line.</param>
/// <param name="Event">A request's name, or Adopted, Denied, Refused, Console, Certificate, Reload, Start, Stop, Lost,
/// Cut.</param>
/// <param name="Who">The authenticated peer; null for the node itself.</param>
/// <param name="What">The object of the event, for people.</param>
/// <param name="Outcome">The answer's status, or the reason of a refusal.</param>
public sealed record AuditEntry(DateTimeOffset Time, string Node, string Event, AuditWho? Who, string What,
    string Outcome, long Epoch)
{
    /// <summary>Hexadecimal SHA-256 of the line before; zeros in the first line of all.</summary>
    public string Prev { get; init; } = "";

    internal byte[] Encode() => JsonSerializer.SerializeToUtf8Bytes(this, AuditJson.Lines.AuditEntry);

    /// <exception cref="JsonException">The line is no entry.</exception>
    internal static AuditEntry Decode(ReadOnlySpan<byte> line) =>
        JsonSerializer.Deserialize(line, AuditJson.Lines.AuditEntry) ?? throw new JsonException("An empty line.");

    internal static string HashOf(ReadOnlySpan<byte> line) => Convert.ToHexStringLower(SHA256.HashData(line));
}

/// <summary>A peer in an audit file.</summary>
/// <param name="Name">The certificate's name, or the address of a peer without one.</param>
/// <param name="Serial">The certificate's serial number; null without one.</param>
public sealed record AuditWho(string Role, string Name, string? Serial = null)
{
    internal static AuditWho Of(Principal who) =>
        new(who.Role.ToString().ToLowerInvariant(), who.Name, who.Serial);

    public override string ToString() => Serial is null ? $"{Role}/{Name}" : $"{Role}/{Name} {Serial}";
}

[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(AuditEntry))]
internal sealed partial class AuditJson : JsonSerializerContext
{
    /// <summary>Control characters are escaped, other text is as it is.</summary>
    public static AuditJson Lines { get; } = new(new JsonSerializerOptions(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    });
}
