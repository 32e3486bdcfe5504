using System.Text;

namespace Corfu.Load.Suite.Html;

/// <summary>A scenario of the page: its description, plots, and a table of every figure beside its baselines.</summary>
internal static class ScenarioSection
{
    public static void Append(StringBuilder page, ScenarioReport scenario)
    {
        var info = scenario.Info;
        page.Append($"<section id=\"{HtmlReport.Encode(info.Name)}\">\n<h2>{HtmlReport.Encode(info.Title)} ")
            .Append($"<code>{HtmlReport.Encode(info.Name)}</code></h2>\n<p>{HtmlReport.Encode(info.Text)}</p>\n");
        if (scenario.Error is { } error)
            page.Append($"<p class=\"failed\">Failed: {HtmlReport.Encode(error)}</p>\n");
        page.Append("<div class=\"plots\">\n");
        var number = 0;
        foreach (var plot in ScenarioPlots.Of(scenario)) page.Append(SvgPlot.Render(plot, $"{info.Name}-{number++}"));
        page.Append("</div>\n");
        if (scenario.Points.Count > 0) AppendTable(page, scenario);
        page.Append("</section>\n");
    }

    /// <summary>The median ratio, and what it is a part of.</summary>
    public static string PartOf(PointReport point) => point.Baseline switch
    {
        Baseline.Echo => $"{Figures.Ratio(RoundResult.Middle(point.Ratios))} of the echo",
        Baseline.Disk => $"{Figures.Ratio(RoundResult.Middle(point.Ratios))} of write+fdatasync",
        _ => "no baseline",
    };

    private static void AppendTable(StringBuilder page, ScenarioReport scenario)
    {
        var aborts = scenario.Points.Any(static point => point.Median.Aborted > 0);
        var disk = scenario.Points.Any(static point => point.Disk.Count > 0);
        page.Append("<div class=\"table\"><table>\n<thead><tr><th>series<th>")
            .Append(HtmlReport.Encode(scenario.Info.Axis)).Append("<th>per second")
            .Append(aborts ? "<th>committed" : "")
            .Append("<th>part of<th>p50<th>of echo's").Append(disk ? "<th>of disk's" : "")
            .Append("<th>p99<th>of echo's<th>p99.9<th>failures<th>echo/s")
            .Append(disk ? "<th>disk p50" : "").Append("</tr></thead>\n<tbody>\n");
        foreach (var point in scenario.Points) AppendRow(page, point, aborts, disk);
        page.Append("</tbody>\n</table></div>\n");
    }

    private static void AppendRow(StringBuilder page, PointReport point, bool withAborts, bool withDisk)
    {
        var (median, echo, disk) = (point.Median, point.EchoMedian, point.DiskMedian);
        page.Append($"<tr><td>{HtmlReport.Encode(point.Series)}<td>{HtmlReport.Encode(point.Label)}")
            .Append($"<td><b>{Figures.Count(median.Goodput)}</b>")
            .Append(Spread(point.Rounds.Select(static round => round.Goodput), Figures.Count));
        if (withAborts) page.Append($"<td>{100 * median.Goodput / median.PerSecond:0} %");
        page.Append($"<td><b>{HtmlReport.Encode(PartOf(point))}</b>")
            .Append(point.Baseline == Baseline.None ? "" : Spread(point.Ratios, Figures.Ratio))
            .Append($"<td>{Figures.Time(median.P50)}<td>{Times(median.P50, echo?.P50)}");
        if (withDisk) page.Append($"<td>{Times(median.P50, disk?.P50)}");
        page.Append($"<td>{Figures.Time(median.P99)}<td>{Times(median.P99, echo?.P99)}")
            .Append($"<td>{Figures.Time(median.P999)}")
            .Append(median.Failures > 0 ? $"<td class=\"failed\">{median.Failures}" : "<td>0")
            .Append($"<td>{(echo is null ? "" : Figures.Count(echo.PerSecond))}");
        if (withDisk) page.Append($"<td>{(disk is null ? "" : Figures.Time(disk.P50))}");
        page.Append("</tr>\n");
    }

    private static string Times(double value, double? by) => by is > 0 ? $"{Figures.Ratio(value / by.Value)} ×" : "";

    // From the lowest round to the highest, below the median.
    private static string Spread(IEnumerable<double> rounds, Func<double, string> format)
    {
        var all = rounds.ToArray();
        return all.Length < 2 ? "" : $"<small>{format(all.Min())} – {format(all.Max())}</small>";
    }
}
