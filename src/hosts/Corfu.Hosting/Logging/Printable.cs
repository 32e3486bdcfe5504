using System.Globalization;
using System.Text;

namespace Corfu.Hosting;

/// <summary>Texts that came over the network, for a log or a terminal: what would begin a line, move a cursor or turn
/// the direction of writing is shown as its code.</summary>
internal static class Printable
{
    /// <summary>The printable form of a line.</summary>
    public static string Of(string text)
    {
        if (!text.Any(IsHarmful)) return text;
        var safe = new StringBuilder(text.Length + 16);
        foreach (var c in text)
        {
            if (!IsHarmful(c)) safe.Append(c);
            else if (c == '\n') safe.Append("\\n");
            else if (c == '\r') safe.Append("\\r");
            else safe.Append(CultureInfo.InvariantCulture, $"\\u{(int)c:x4}");
        }

        return safe.ToString();
    }

    /// <summary>A text may stand in columns, so tabs stay.</summary>
    public static bool IsHarmful(char c) =>
        c is '\u2028' or '\u2029' || (char.IsControl(c) && c != '\t') || IsDirection(c);

    // Embeddings, overrides and isolates: they show a text in another order than it has.
    private static bool IsDirection(char c) => c is >= '\u202a' and <= '\u202e' or >= '\u2066' and <= '\u2069';
}
