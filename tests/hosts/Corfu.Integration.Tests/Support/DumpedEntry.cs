using System.Text;
using System.Text.Json;

namespace Corfu.Integration.Tests.Support;

/// <summary>A line of <c>corfu log dump --json</c>.</summary>
internal sealed record DumpedEntry(long Position, string Kind, string? Text)
{
    public static DumpedEntry Parse(string line)
    {
        using var json = JsonDocument.Parse(line);
        var entry = json.RootElement;
        return new DumpedEntry(
            entry.GetProperty("position").GetInt64(),
            entry.GetProperty("kind").GetString()!,
            entry.TryGetProperty("payload", out var payload)
                ? Encoding.UTF8.GetString(payload.GetBytesFromBase64())
                : null);
    }
}
