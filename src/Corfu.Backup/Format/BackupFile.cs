namespace Corfu.Backup;

/// <summary>One finished file, as the manifest names it.</summary>
/// <param name="From">First position.</param>
/// <param name="Until">Exclusive.</param>
/// <param name="Sha256">Of the whole file, hexadecimal.</param>
public sealed record BackupFile(string Name, long From, long Until, long Bytes, string Sha256)
{
    public const string LogPrefix = "log-";
    public const string StreamsPrefix = "streams-";
    public const string Suffix = ".cfb";

    /// <summary>Of entries, from a position on.</summary>
    public static string NameOf(long from) => Name19(LogPrefix, from);

    /// <summary>Of the streams that were trimmed below a mark.</summary>
    public static string StreamsNameOf(long mark) => Name19(StreamsPrefix, mark);

    public static bool IsName(string name) => IsName(name, LogPrefix);

    public static bool IsStreamsName(string name) => IsName(name, StreamsPrefix);

    public static bool IsAnyName(string name) => IsName(name) || IsStreamsName(name);

    private static string Name19(string prefix, long position) =>
        string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{prefix}{position:D19}{Suffix}");

    private static bool IsName(string name, string prefix) =>
        name.Length == prefix.Length + 19 + Suffix.Length && name.StartsWith(prefix, StringComparison.Ordinal)
        && name.EndsWith(Suffix, StringComparison.Ordinal)
        && !name.AsSpan(prefix.Length, 19).ContainsAnyExceptInRange('0', '9');
}
