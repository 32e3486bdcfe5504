using System.Globalization;

namespace Tango.Formatting;

/// <summary>Name of a user's own formatter, and the version of its bytes. The directory keeps both with each object
/// that stores values by it.</summary>
internal readonly record struct SerializerName(string Name, int Version) : IComparable<SerializerName>
{
    public const int MaxLength = 64;

    public static SerializerName Of(string name, int version)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(name.Length, MaxLength, nameof(name));
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(version);
        if (!name.All(IsAllowed))
            throw new ArgumentException("Letters and digits of ASCII, '.', '-' and '_' only", nameof(name));
        return new SerializerName(name, version);
    }

    /// <summary>Parses text that <see cref="ToString"/> gives; null for other text.</summary>
    public static SerializerName? Parse(ReadOnlySpan<char> text)
    {
        int slash = text.IndexOf('/');
        if (slash is < 1 or > MaxLength) return null;
        foreach (char c in text[..slash])
        {
            if (!IsAllowed(c)) return null;
        }

        bool isNumber = int.TryParse(text[(slash + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var n);
        return isNumber && n > 0 ? new SerializerName(text[..slash].ToString(), n) : null;
    }

    public int CompareTo(SerializerName other)
    {
        int byName = string.CompareOrdinal(Name, other.Name);
        return byName != 0 ? byName : Version.CompareTo(other.Version);
    }

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Name}/{Version}");

    private static bool IsAllowed(char c) => char.IsAsciiLetterOrDigit(c) || c is '.' or '-' or '_';
}
