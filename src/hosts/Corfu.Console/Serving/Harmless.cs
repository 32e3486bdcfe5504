using System.Globalization;
using System.Text;

namespace Corfu.WebConsole.Serving;

/// <summary>Characters that turn the direction of writing or begin a line are shown as their codes in the text of a
/// page: a name of the cluster looks like nothing that it is not. The renderer has encoded them as references, and
/// every angle bracket of a text, so that a bracket here belongs to a tag. Attributes keep them: addresses and forms
/// need the name.</summary>
internal static class Harmless
{
    private const string Reference = "&#x";

    public static string TextOf(string html)
    {
        if (!html.Contains(Reference, StringComparison.Ordinal)) return html;
        var safe = new StringBuilder(html.Length + 64);
        var isTag = false;
        for (var i = 0; i < html.Length; i++)
        {
            var c = html[i];
            isTag = c == '<' || (isTag && c != '>');
            if (c == '&' && !isTag && TryRead(html, i, out var code, out var end) && IsHarmful((char)code))
            {
                safe.Append(CultureInfo.InvariantCulture, $"\\u{code:x4}");
                i = end;
                continue;
            }

            safe.Append(c);
        }

        return safe.ToString();
    }

    private static bool TryRead(string html, int at, out int code, out int end)
    {
        code = 0;
        end = html.IndexOf(';', at);
        return end > at && end - at <= Reference.Length + 4
            && html.AsSpan(at).StartsWith(Reference, StringComparison.Ordinal)
            && int.TryParse(
                html.AsSpan(at + Reference.Length, end - at - Reference.Length), NumberStyles.HexNumber,
                CultureInfo.InvariantCulture, out code);
    }

    // Embeddings, overrides, isolates, marks of direction, separators of lines.
    private static bool IsHarmful(char c) =>
        c is '\u2028' or '\u2029' or '\u200e' or '\u200f' or '\u061c' or >= '\u202a' and <= '\u202e'
            or >= '\u2066' and <= '\u2069'
        || (char.IsControl(c) && c is not ('\t' or '\n' or '\r'));
}
