using OxyPlot;
using OxyPlot.Axes;
using OxyPlot.Series;

namespace Corfu.Load.Suite.Html;

/// <summary>
/// Colours of the plots. OxyPlot gets stand-ins, which <see cref="SvgPlot"/> replaces with the page's CSS variables, so
/// that one drawing is readable on light and on dark.
/// </summary>
internal static class PlotTheme
{
    public const int SeriesColors = 8;
    public const int Width = 620;
    public const int Height = 340;

    public static OxyColor Ink { get; } = OxyColor.FromRgb(1, 1, 1);

    public static OxyColor Grid { get; } = OxyColor.FromRgb(1, 1, 2);

    /// <summary>Colour of baselines.</summary>
    public static OxyColor Muted { get; } = OxyColor.FromRgb(1, 1, 3);

    /// <summary>Stand-in and CSS variable of every colour.</summary>
    public static IEnumerable<(string StandIn, string Variable)> Variables =>
    [
        ("rgb(1,1,1)", "var(--ink)"), ("rgb(1,1,2)", "var(--grid)"), ("rgb(1,1,3)", "var(--muted)"),
        .. Enumerable.Range(0, SeriesColors).Select(i => ($"rgb(1,2,{i})", Variable(i))),
    ];

    public static OxyColor Series(int index) => OxyColor.FromRgb(1, 2, (byte)(index % SeriesColors));

    public static string Variable(int index) => $"var(--c{index % SeriesColors})";

    public static PlotModel Model() => new()
    {
        TextColor = Ink,
        PlotAreaBorderColor = Grid,
        Background = OxyColors.Transparent,
        DefaultFont = "sans-serif",
        DefaultFontSize = 12,
        Padding = new OxyThickness(4, 8, 24, 4),
    };

    public static T Styled<T>(this T axis, AxisPosition position, string title)
        where T : Axis
    {
        axis.Position = position;
        axis.Title = title;
        axis.AxislineColor = Ink;
        axis.TicklineColor = Grid;
        axis.MinorTicklineColor = OxyColors.Transparent;
        axis.MajorGridlineStyle = LineStyle.Solid;
        axis.MajorGridlineColor = Grid;
        axis.TextColor = Ink;
        axis.TitleColor = Ink;
        // OxyPlot measures text narrower than browsers draw it.
        axis.AxisTitleDistance = position == AxisPosition.Left ? 18 : 8;
        return axis;
    }

    /// <summary>Whole decades around the values, with a label at each power of ten.</summary>
    public static LogarithmicAxis Decades(IEnumerable<double> values, Func<double, string> label)
    {
        var positive = values.Where(static value => value > 0).DefaultIfEmpty(1).ToArray();
        var low = Math.Floor(Math.Log10(positive.Min()) + 1e-9);
        var high = Math.Max(low + 1, Math.Ceiling(Math.Log10(positive.Max()) - 1e-9));
        return new LogarithmicAxis
        {
            Minimum = Math.Pow(10, low),
            Maximum = Math.Pow(10, high),
            LabelFormatter = value =>
                Math.Abs(Math.Log10(value) - Math.Round(Math.Log10(value))) < 1e-6 ? label(value) : "",
        };
    }

    public static LinearAxis FromZero(double highest, Func<double, string> label) => new()
    {
        Minimum = 0,
        Maximum = highest <= 0 ? 1 : highest * 1.08,
        LabelFormatter = label,
    };

    public static LineSeries Line(OxyColor color, LineStyle style = LineStyle.Solid, bool markers = true) => new()
    {
        Color = color,
        LineStyle = style,
        StrokeThickness = 2,
        MarkerType = markers ? MarkerType.Circle : MarkerType.None,
        MarkerSize = 3.5,
        MarkerFill = color,
    };
}
