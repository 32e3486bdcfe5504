using System.Net;
using System.Text;
using System.Text.RegularExpressions;
using OxyPlot;

namespace Corfu.Load.Suite.Html;

/// <summary>A drawing and its legend, ready for the page.</summary>
internal sealed record Plot(string Title, PlotModel Model, IReadOnlyList<LegendEntry> Legend);

/// <param name="Color">A CSS colour.</param>
internal sealed record LegendEntry(string Text, string Color, bool Dashed = false);

/// <summary>Writes a plot as inline SVG with an HTML legend.</summary>
internal static partial class SvgPlot
{
    /// <param name="id">Name of this plot alone: the ids in its SVG begin with it.</param>
    public static string Render(Plot plot, string id)
    {
        var exporter = new SvgExporter { Width = PlotTheme.Width, Height = PlotTheme.Height, IsDocument = false };
        var svg = exporter.ExportToString(plot.Model);
        svg = svg[svg.IndexOf("<svg", StringComparison.Ordinal)..];
        // The page scales it; the size that OxyPlot writes is fixed.
        svg = $"<svg viewBox=\"0 0 {PlotTheme.Width} {PlotTheme.Height}\" role=\"img\" "
            + $"aria-label=\"{WebUtility.HtmlEncode(plot.Title)}\">{svg[(svg.IndexOf('>') + 1)..]}";
        svg = svg.Replace("clipPath1", $"{id}-clip1", StringComparison.Ordinal);
        svg = ClipName().Replace(svg, $"{id}-clip$1");
        svg = FillAttribute().Replace(svg, "style=\"fill:$1\"");
        foreach (var (standIn, variable) in PlotTheme.Variables)
            svg = svg.Replace(standIn, variable, StringComparison.Ordinal);
        var page = new StringBuilder("<figure><figcaption>").Append(WebUtility.HtmlEncode(plot.Title))
            .Append("</figcaption>").Append(svg).Append("<p class=\"legend\">");
        foreach (var entry in plot.Legend)
            page.Append(
                $"<span><i class=\"{(entry.Dashed ? "dashed" : "solid")}\" style=\"border-color:{entry.Color}\"></i>"
                + $"{WebUtility.HtmlEncode(entry.Text)}</span>");
        return page.Append("</p></figure>\n").ToString();
    }

    [GeneratedRegex("clipPath([0-9]+)")]
    private static partial Regex ClipName();

    [GeneratedRegex("fill=\"(rgb\\([0-9,]+\\))\"")]
    private static partial Regex FillAttribute();
}
