using System.Globalization;
using System.Net;
using System.Text;

namespace Corfu.Load.Suite.Html;

/// <summary>The report as one page that loads nothing.</summary>
internal static class HtmlReport
{
    public static string Render(SuiteReport report)
    {
        var page = new StringBuilder();
        page.Append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
            .Append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
            .Append("<title>Corfu: load report</title>\n<style>\n").Append(PageStyle.Css)
            .Append("</style>\n</head>\n<body>\n<main>\n");
        AppendHeader(page, report);
        AppendOverview(page, report);
        foreach (var scenario in report.Scenarios) ScenarioSection.Append(page, scenario);
        return page.Append("</main>\n</body>\n</html>\n").ToString();
    }

    public static string Encode(string text) => WebUtility.HtmlEncode(text);

    private static void AppendHeader(StringBuilder page, SuiteReport report)
    {
        var header = report.Header;
        page.Append("<h1>Corfu: load report</h1>\n");
        if (header.Quick)
            page.Append("<p class=\"note\">A quick run: short rounds and few points. It shows that everything runs; "
                + "its figures say little.</p>\n");
        page.Append("<dl>\n");
        AppendFact(page, "machine", header.Machine);
        AppendFact(page, "cores", header.Cores.ToString(CultureInfo.InvariantCulture)
            + " for all processes: servers, generators and baselines");
        AppendFact(page, "kernel", $"{header.Kernel}; {header.Runtime}");
        AppendFact(page, "commit", header.Commit);
        AppendFact(page, "command", header.Command);
        AppendFact(page, "date", header.Time.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture));
        AppendFact(page, "rounds", string.Create(CultureInfo.InvariantCulture,
            $"{header.Rounds} of {header.Seconds:0.##} s for each point; {header.TotalSeconds:0} s in all"));
        page.Append("</dl>\n<p>Every figure is the median of the rounds. Beside it stands its part of the "
            + "<b>bare echo</b> (the same transport, processes, window and size, answered at once) and, where it "
            + "is durable, of one caller's <b>write and fdatasync</b>, both measured in the same rounds. On another "
            + "machine the figures change; the parts change less.</p>\n");
    }

    private static void AppendFact(StringBuilder page, string name, string value) =>
        page.Append($"<dt>{name}</dt><dd>{Encode(value)}</dd>\n");

    private static void AppendOverview(StringBuilder page, SuiteReport report)
    {
        page.Append("<h2>Overview</h2>\n<p>The point with the highest throughput of each scenario.</p>\n"
            + "<div class=\"table\"><table>\n<thead><tr><th>scenario<th>at<th>per second<th>part of<th>p50<th>p99"
            + "</tr></thead>\n<tbody>\n");
        foreach (var scenario in report.Scenarios)
        {
            page.Append($"<tr><td><a href=\"#{Encode(scenario.Info.Name)}\">{Encode(scenario.Info.Title)}</a>");
            if (scenario.Points.Count == 0)
            {
                page.Append("<td colspan=\"5\" class=\"failed\">")
                    .Append(Encode(scenario.Error ?? "nothing measured")).Append("</tr>\n");
                continue;
            }

            var best = scenario.Points.Where(point => point.Baseline != Baseline.None)
                .DefaultIfEmpty(scenario.Points[0]).MaxBy(point => point.Median.Goodput)!;
            page.Append($"<td>{Encode(best.Series)}, {Encode(best.Label)}<td>{Figures.Count(best.Median.Goodput)}")
                .Append($"<td>{Encode(ScenarioSection.PartOf(best))}<td>{Figures.Time(best.Median.P50)}")
                .Append($"<td>{Figures.Time(best.Median.P99)}</tr>\n");
        }

        page.Append("</tbody>\n</table></div>\n");
    }
}
