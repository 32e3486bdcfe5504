using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Corfu.Hosting;

/// <summary>Small documents that are there whole, with their directory entry, or not at all.</summary>
internal static class JsonFile
{
    /// <exception cref="IOException">The file cannot be written, or not made durable.</exception>
    public static void Write<T>(string path, T value, JsonTypeInfo<T> type) =>
        DurableFile.Replace(path, [.. JsonSerializer.SerializeToUtf8Bytes(value, type), (byte)'\n']);

    /// <exception cref="NodeStartException">Not there, or not what it should be.</exception>
    public static T Read<T>(string path, JsonTypeInfo<T> type)
    {
        try
        {
            using var stream = File.OpenRead(path);
            return JsonSerializer.Deserialize(stream, type)
                ?? throw new NodeStartException($"The file {path} is empty.");
        }
        catch (JsonException e)
        {
            throw new NodeStartException($"The file {path} is not valid: {e.Message}", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The file {path} cannot be read: {e.Message}", e);
        }
    }
}
