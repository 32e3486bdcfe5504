namespace Corfu.Backup;

/// <summary>One finished file, as the manifest names it.</summary>
/// <param name="From">First position.</param>
/// <param name="Until">Exclusive.</param>
/// <param name="Sha256">Of the whole file, hexadecimal.</param>
public sealed record BackupFile(string Name, long From, long Until, long Bytes, string Sha256)
{
    public const string Prefix = "log-";
    public const string Suffix = ".cfb";

    public static string NameOf(long from) => string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{Prefix}{from:D19}{Suffix}");

    public static bool IsName(string name) =>
        name.Length == Prefix.Length + 19 + Suffix.Length && name.StartsWith(Prefix, StringComparison.Ordinal) && name.EndsWith(Suffix, StringComparison.Ordinal)
        && !name.AsSpan(Prefix.Length, 19).ContainsAnyExceptInRange('0', '9');
}
