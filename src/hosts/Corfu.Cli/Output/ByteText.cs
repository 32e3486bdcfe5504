using System.Globalization;

namespace Corfu.Cli;

/// <summary>Numbers of bytes, as people write them: <c>4K</c>, <c>64M</c>, <c>1.5G</c>; K is 1,024.</summary>
internal static class ByteText
{
    private const string Units = "KMGTPE";

    /// <summary>Accepts a whole number with an optional unit: K, M, G, T, with or without <c>iB</c>.</summary>
    public static bool TryParse(string text, out long bytes)
    {
        bytes = 0;
        var digits = text.TakeWhile(char.IsAsciiDigit).Count();
        if (!long.TryParse(text.AsSpan(0, digits), NumberStyles.None, CultureInfo.InvariantCulture, out var number))
            return false;
        var unit = text[digits..].ToUpperInvariant();
        if (unit is "" or "B")
        {
            bytes = number;
            return true;
        }

        var power = Units.IndexOf(unit[0], StringComparison.Ordinal) + 1;
        if (power == 0 || unit[1..] is not ("" or "B" or "IB") || number > long.MaxValue >> (10 * power)) return false;
        bytes = number << (10 * power);
        return true;
    }

    /// <summary>At most one decimal.</summary>
    public static string Of(long bytes)
    {
        if (bytes < 1024) return bytes.ToString(CultureInfo.InvariantCulture);
        double value = bytes;
        var unit = -1;
        while (value >= 1024)
        {
            value /= 1024;
            unit++;
        }

        return string.Create(CultureInfo.InvariantCulture, $"{value:0.#}{Units[unit]}");
    }
}
