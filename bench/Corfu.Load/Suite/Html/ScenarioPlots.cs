using OxyPlot;
using OxyPlot.Annotations;
using OxyPlot.Axes;

namespace Corfu.Load.Suite.Html;

/// <summary>Draws a scenario in the ways that it asks for.</summary>
internal static class ScenarioPlots
{
    // More lines than this are no longer told apart.
    private const int MaxPercentileLines = 8;

    public static IEnumerable<Plot> Of(ScenarioReport scenario) =>
        scenario.Info.Plots.Select(kind => kind switch
        {
            PlotKind.LoadCurve => LoadCurve(scenario),
            PlotKind.Scaling => Scaling(scenario),
            PlotKind.Percentiles => Percentiles(scenario),
            _ => TimelinePlot.Of(scenario),
        }).OfType<Plot>();

    private static Plot? LoadCurve(ScenarioReport scenario)
    {
        var model = PlotTheme.Model();
        var legend = new List<LegendEntry>();
        var all = scenario.Points.SelectMany(point => new[] { point.Median, point.EchoMedian }).OfType<RoundResult>()
            .ToArray();
        if (all.Length == 0) return null;
        model.Axes.Add(PlotTheme.Decades(all.Select(one => one.Goodput), Figures.Count)
            .Styled(AxisPosition.Bottom, $"{scenario.Info.Unit} per second"));
        model.Axes.Add(PlotTheme.Decades(all.SelectMany(one => new[] { one.P50, one.P99 }), Figures.Time)
            .Styled(AxisPosition.Left, "latency"));
        foreach (var (index, series) in SeriesOf(scenario))
        {
            var color = PlotTheme.Series(index);
            var p50 = PlotTheme.Line(color);
            var p99 = PlotTheme.Line(color, LineStyle.Dash);
            foreach (var point in series)
            {
                p50.Points.Add(new DataPoint(point.Median.Goodput, point.Median.P50));
                p99.Points.Add(new DataPoint(point.Median.Goodput, point.Median.P99));
                // A single series has its loads written beside it; others would cover each other.
                if (index == 0) model.Annotations.Add(Beside(point.Median.Goodput, point.Median.P50, point.Label));
            }

            model.Series.Add(p99);
            model.Series.Add(p50);
            legend.Add(new LegendEntry($"{series.Key}, p50", PlotTheme.Variable(index)));
            legend.Add(new LegendEntry($"{series.Key}, p99", PlotTheme.Variable(index), Dashed: true));
        }

        AddEcho(model, scenario.Points.DistinctBy(point => point.X), legend);
        return new Plot($"Throughput against latency; numbers are {scenario.Info.Axis}", model, legend);
    }

    private static void AddEcho(PlotModel model, IEnumerable<PointReport> points, List<LegendEntry> legend)
    {
        var line = PlotTheme.Line(PlotTheme.Muted);
        foreach (var point in points)
        {
            if (point.EchoMedian is { } echo) line.Points.Add(new DataPoint(echo.PerSecond, echo.P50));
        }

        if (line.Points.Count == 0) return;
        model.Series.Add(line);
        legend.Add(new LegendEntry("bare echo, p50", "var(--muted)"));
    }

    private static Plot? Scaling(ScenarioReport scenario)
    {
        if (scenario.Points.Count == 0) return null;
        var labels = scenario.Points.OrderBy(point => point.X).Select(point => point.Label).Distinct().ToList();
        var model = PlotTheme.Model();
        var legend = new List<LegendEntry>();
        model.Axes.Add(new LinearAxis
        {
            Minimum = -0.4,
            Maximum = labels.Count - 0.6,
            MajorStep = 1,
            LabelFormatter = value => value >= 0 && value < labels.Count && value == (int)value
                ? labels[(int)value]
                : "",
        }.Styled(AxisPosition.Bottom, scenario.Info.Axis));
        model.Axes.Add(PlotTheme.FromZero(
            scenario.Points.Max(point => point.Rounds.Max(round => round.PerSecond)), Figures.Count)
            .Styled(AxisPosition.Left, $"{scenario.Info.Unit} per second"));
        foreach (var (index, series) in SeriesOf(scenario))
        {
            var color = PlotTheme.Series(index);
            var medians = PlotTheme.Line(color);
            var tried = PlotTheme.Line(color, LineStyle.Dash);
            foreach (var point in series)
            {
                var x = labels.IndexOf(point.Label);
                medians.Points.Add(new DataPoint(x, point.Median.Goodput));
                tried.Points.Add(new DataPoint(x, point.Median.PerSecond));
                // From the slowest round to the fastest.
                var spread = PlotTheme.Line(color, markers: false);
                spread.StrokeThickness = 1;
                spread.Points.Add(new DataPoint(x, point.Rounds.Min(round => round.Goodput)));
                spread.Points.Add(new DataPoint(x, point.Rounds.Max(round => round.Goodput)));
                model.Series.Add(spread);
            }

            var aborts = series.Any(point => point.Median.Aborted > 0);
            if (aborts) model.Series.Add(tried);
            model.Series.Add(medians);
            legend.Add(new LegendEntry(aborts ? $"{series.Key}, committed" : series.Key, PlotTheme.Variable(index)));
            if (aborts)
                legend.Add(new LegendEntry($"{series.Key}, tried", PlotTheme.Variable(index), Dashed: true));
        }

        return new Plot("Throughput: median of the rounds; thin lines from the slowest to the fastest", model, legend);
    }

    private static Plot? Percentiles(ScenarioReport scenario)
    {
        var points = scenario.Points.Where(point => point.Percentiles.Count > 2).Take(MaxPercentileLines).ToArray();
        if (points.Length == 0) return null;
        var model = PlotTheme.Model();
        var legend = new List<LegendEntry>();
        // How rare a slower one is: 1 in 1, 10, 100; written as the percentile.
        var rarest = points.Max(point => RarityOf(point.Percentiles[^1]));
        model.Axes.Add(PlotTheme
            .Decades([1, rarest], rarity => FormattableString.Invariant($"{100 - (100 / rarity):0.###} %"))
            .Styled(AxisPosition.Bottom, "percentile"));
        var times = points.SelectMany(point => point.Percentiles).Select(one => one.Microseconds);
        model.Axes.Add(PlotTheme.Decades(times, Figures.Time).Styled(AxisPosition.Left, "latency"));
        for (var i = 0; i < points.Length; i++)
        {
            var line = PlotTheme.Line(PlotTheme.Series(i), markers: false);
            foreach (var one in points[i].Percentiles.Where(one => one.Microseconds > 0))
                line.Points.Add(new DataPoint(RarityOf(one), one.Microseconds));
            model.Series.Add(line);
            legend.Add(new LegendEntry($"{points[i].Series}, {points[i].Label}", PlotTheme.Variable(i)));
        }

        return new Plot($"Latency by percentile, all rounds; lines are {scenario.Info.Axis}", model, legend);
    }

    private static double RarityOf(PercentilePoint point) => 100 / (100 - point.Percent);

    private static TextAnnotation Beside(double x, double y, string text) => new()
    {
        Text = text,
        TextPosition = new DataPoint(x, y),
        Offset = new ScreenVector(0, 9),
        TextHorizontalAlignment = HorizontalAlignment.Center,
        TextVerticalAlignment = VerticalAlignment.Top,
        StrokeThickness = 0,
        Stroke = OxyColors.Transparent,
        TextColor = PlotTheme.Ink,
        FontSize = 11,
    };

    private static IEnumerable<(int Index, IGrouping<string, PointReport> Series)> SeriesOf(ScenarioReport scenario) =>
        scenario.Points.GroupBy(point => point.Series).Select((series, index) => (index, series));
}
