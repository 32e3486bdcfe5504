using System.Text.Json;
using Corfu.Storage;

namespace Corfu.Cli;

/// <summary>The last restore of a backup that succeeded as a drill, kept beside the backup's files.</summary>
/// <param name="End">Positions below it were compared.</param>
internal sealed record DrillRecord(DateTimeOffset Finished, long End)
{
    public const string FileName = "drill.json";

    /// <summary>Null where no drill has succeeded, or its record cannot be read.</summary>
    public static DrillRecord? Read(string folder)
    {
        try
        {
            return JsonSerializer.Deserialize(
                File.ReadAllBytes(Path.Combine(folder, FileName)), CliJson.Lines.DrillRecord);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or JsonException)
        {
            return null;
        }
    }

    /// <exception cref="IOException">The folder cannot be written.</exception>
    public void Write(string folder) => DurableFile.Replace(Path.Combine(folder, FileName),
        JsonSerializer.SerializeToUtf8Bytes(this, CliJson.Lines.DrillRecord));
}
