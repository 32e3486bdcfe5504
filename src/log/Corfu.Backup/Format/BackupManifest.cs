using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Backup;

/// <summary>A finished file, as the manifest names it.</summary>
/// <param name="From">First position.</param>
/// <param name="Until">Exclusive.</param>
/// <param name="Sha256">Hash of the whole file, hexadecimal.</param>
public sealed record BackupFile(string Name, long From, long Until, long Bytes, string Sha256)
{
    private const string LogPrefix = "log-";
    private const string StreamsPrefix = "streams-";
    private const string Suffix = ".cfb";

    /// <summary>The name of a file of entries, from a position on.</summary>
    internal static string NameOf(long from) => Name19(LogPrefix, from);

    /// <summary>The name of the file of the streams that were trimmed below a mark.</summary>
    internal static string StreamsNameOf(long mark) => Name19(StreamsPrefix, mark);

    internal static bool IsName(string name) => IsName(name, LogPrefix);

    internal static bool IsStreamsName(string name) => IsName(name, StreamsPrefix);

    internal static bool IsAnyName(string name) => IsName(name) || IsStreamsName(name);

    private static string Name19(string prefix, long position) =>
        string.Create(CultureInfo.InvariantCulture, $"{prefix}{position:D19}{Suffix}");

    private static bool IsName(string name, string prefix) =>
        name.Length == prefix.Length + 19 + Suffix.Length && name.StartsWith(prefix, StringComparison.Ordinal)
        && name.EndsWith(Suffix, StringComparison.Ordinal)
        && !name.AsSpan(prefix.Length, 19).ContainsAnyExceptInRange('0', '9');
}

/// <summary>The files of a backup. Replaced whole, and only after every file that it names is durable: files that it
/// does not name are leftovers.</summary>
/// <param name="TrimMark">Everything below was trimmed in the log.</param>
/// <param name="End">Exclusive. Every position from the mark to here is in the files.</param>
/// <param name="Streams">Which streams had entries below the mark, as far as the log knew; null below no mark, and in
/// backups of version 1.</param>
/// <param name="Check">CRC-32C of the manifest without it, hexadecimal.</param>
public sealed record BackupManifest(
    int Format, Guid Cluster, long TrimMark, long End, DateTimeOffset Written, ImmutableArray<BackupFile> Files,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] BackupFile? Streams = null,
    string Check = "")
{
    public const string FileName = "manifest.json";
    public const int Version = 2;

    internal const int MaxBytes = 64 << 20;

    [JsonIgnore] public IEnumerable<BackupFile> AllFiles => Streams is { } streams ? Files.Append(streams) : Files;

    public static BackupManifest Empty(ClusterId cluster) =>
        new(Version, cluster.Value, 0, 0, DateTimeOffset.UnixEpoch, []);

    public byte[] Encode() =>
        JsonSerializer.SerializeToUtf8Bytes(this with { Check = CheckOf(this) }, BackupJson.Default.BackupManifest);

    /// <exception cref="BackupDamagedException">The bytes are not those that were written.</exception>
    public static BackupManifest Decode(ReadOnlySpan<byte> bytes)
    {
        BackupManifest manifest;
        try
        {
            manifest = JsonSerializer.Deserialize(bytes, BackupJson.Default.BackupManifest)
                ?? throw Damaged("it is empty");
        }
        catch (JsonException e)
        {
            throw Damaged($"it is not valid ({e.Message.TrimEnd('.')})", e);
        }

        if (manifest.Format is < 1 or > Version) throw Damaged($"its format, {manifest.Format}, is unknown");
        if (manifest.Files.IsDefault || manifest.Files.Any(f => f is null) || manifest.Check != CheckOf(manifest))
            throw Damaged("its check does not fit");
        manifest.RequireWhole();
        return manifest;
    }

    private void RequireWhole()
    {
        if (TrimMark < 0 || End < TrimMark) throw Damaged("its positions cannot be");
        var next = TrimMark;
        foreach (var file in Files)
        {
            if (!BackupFile.IsName(file.Name) || file.From < 0 || file.Until <= file.From || file.From > next
                || file.Until <= next || file.Bytes < BackupFileHeader.Size)
                throw Damaged($"the file {file.Name} does not follow what is before it");
            next = file.Until;
        }

        if (next != End) throw Damaged("its files do not reach its end");
        if (Streams is { } streams
            && (Format < 2 || !BackupFile.IsStreamsName(streams.Name) || streams.Until != TrimMark
                || streams.Bytes < BackupFileHeader.Size))
            throw Damaged($"the file {streams.Name} does not fit its trim mark");
    }

    private static string CheckOf(BackupManifest manifest)
    {
        var json = JsonSerializer.SerializeToUtf8Bytes(manifest with { Check = "" }, BackupJson.Default.BackupManifest);
        return Crc32C.Compute(json).ToString("x8", CultureInfo.InvariantCulture);
    }

    private static BackupDamagedException Damaged(string what, Exception? inner = null) => new(FileName, what, inner);
}

[JsonSourceGenerationOptions(
    WriteIndented = true,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    RespectNullableAnnotations = true,
    RespectRequiredConstructorParameters = true,
    MaxDepth = 4)]
[JsonSerializable(typeof(BackupManifest))]
internal sealed partial class BackupJson : JsonSerializerContext;
