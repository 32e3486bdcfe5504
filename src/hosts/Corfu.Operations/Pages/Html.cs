using System.Text;
using System.Text.Encodings.Web;

namespace Corfu.Operations.Pages;

/// <summary>Writes HTML. Texts are encoded; tags and classes are the program's own.</summary>
internal sealed class Html
{
    private readonly StringBuilder _html = new(8192);

    public Html Raw(string markup)
    {
        _html.Append(markup);
        return this;
    }

    public Html Text(string text)
    {
        _html.Append(HtmlEncoder.Default.Encode(text));
        return this;
    }

    public Html Element(string tag, string text, string? css = null)
    {
        _html.Append('<').Append(tag);
        if (css is not null) _html.Append(" class=\"").Append(css).Append('"');
        _html.Append('>');
        return Text(text).Raw($"</{tag}>\n");
    }

    /// <summary>A section with a table; a note stands where there are no rows.</summary>
    public Html Table(string title, string nothing, IReadOnlyCollection<Cell[]> rows, params ReadOnlySpan<string> heads)
    {
        Raw("<section>").Element("h2", title);
        if (rows.Count == 0) return Element("p", nothing).Raw("</section>\n");
        Raw("<table><thead><tr>");
        var first = rows.First();
        for (var i = 0; i < heads.Length; i++)
            Raw($"<th scope=\"col\"{(first[i].Css == Cell.Number ? " class=\"number\"" : "")}>").Text(heads[i])
                .Raw("</th>");
        Raw("</tr></thead><tbody>\n");
        foreach (var row in rows)
        {
            Raw("<tr>");
            foreach (var cell in row) cell.Write(this);
            Raw("</tr>\n");
        }

        return Raw("</tbody></table></section>\n");
    }

    public override string ToString() => _html.ToString();
}

internal readonly record struct Cell(string Text, string? Css = null, string? State = null)
{
    public const string Id = "id";
    public const string Number = "number";
    public const string Why = "why";

    public static implicit operator Cell(string text) => new(text);

    public void Write(Html html)
    {
        html.Raw(Css is null ? "<td>" : $"<td class=\"{Css}\">");
        if (State is null) html.Text(Text);
        else html.Raw($"<span class=\"state is-{State}\">").Text(Text).Raw("</span>");
        html.Raw("</td>");
    }
}
