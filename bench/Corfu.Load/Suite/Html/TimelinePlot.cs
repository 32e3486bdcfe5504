using OxyPlot;
using OxyPlot.Annotations;
using OxyPlot.Axes;

namespace Corfu.Load.Suite.Html;

/// <summary>Operations in short intervals around a fault, a line for each round.</summary>
internal static class TimelinePlot
{
    private const int ShownMilliseconds = 3000;

    public static Plot? Of(ScenarioReport scenario)
    {
        if (scenario.Timelines.Count == 0) return null;
        var model = PlotTheme.Model();
        var first = scenario.Timelines[0];
        var shown = scenario.Timelines.Max(one =>
            Math.Min(ShownMilliseconds, (one.Counts.Count - one.FaultIndex) * one.IntervalMilliseconds));
        model.Axes.Add(new LinearAxis
        {
            Minimum = -first.FaultIndex * first.IntervalMilliseconds,
            Maximum = shown,
        }.Styled(AxisPosition.Bottom, $"milliseconds after: {first.Fault}"));
        model.Axes.Add(PlotTheme.FromZero(scenario.Timelines.Max(one => one.Counts.Max()), Figures.Count)
            .Styled(AxisPosition.Left, $"{scenario.Info.Unit} per {first.IntervalMilliseconds} ms"));
        model.Annotations.Add(new LineAnnotation
        {
            Type = LineAnnotationType.Vertical,
            X = 0,
            Color = PlotTheme.Ink,
            LineStyle = LineStyle.Dash,
        });
        var legend = new List<LegendEntry>();
        for (var i = 0; i < scenario.Timelines.Count; i++)
        {
            var timeline = scenario.Timelines[i];
            var line = PlotTheme.Line(PlotTheme.Series(i), markers: false);
            line.StrokeThickness = scenario.Timelines.Count == 1 ? 1.5 : 1;
            for (var at = 0; at < timeline.Counts.Count; at++)
            {
                var milliseconds = (at - timeline.FaultIndex) * timeline.IntervalMilliseconds;
                if (milliseconds <= shown) line.Points.Add(new DataPoint(milliseconds, timeline.Counts[at]));
            }

            model.Series.Add(line);
            legend.Add(new LegendEntry(
                $"round {i + 1}: {Figures.Time(timeline.OutageMilliseconds * 1000)} without", PlotTheme.Variable(i)));
        }

        return new Plot($"Throughput around the fault ({first.Fault} at 0)", model, legend);
    }
}
