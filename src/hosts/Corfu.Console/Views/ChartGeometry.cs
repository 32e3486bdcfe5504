using System.Globalization;
using System.Text;
using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Views;

/// <summary>Points of a series as the path of a line, in a box of fixed size.</summary>
public sealed class ChartGeometry
{
    // The line's width stays inside the box.
    private const double Margin = 2;

    private readonly ImmutableArray<Point> _points;
    private readonly DateTimeOffset _from;
    private readonly double _secondsToX;
    private readonly double _valueToY;
    private readonly double _bottom;

    /// <param name="span">Time from the left edge to the newest point at the right one.</param>
    public ChartGeometry(ImmutableArray<Point> points, double width, double height, TimeSpan span)
    {
        var until = points.IsEmpty ? DateTimeOffset.UnixEpoch : points[^1].At;
        _from = until - span;
        _points = [.. points.Where(point => point.At >= _from)];
        Top = NiceTop(_points.IsEmpty ? 0 : _points.Max(static point => point.Value));
        _secondsToX = width / span.TotalSeconds;
        _bottom = height - Margin;
        _valueToY = (height - 2 * Margin) / Top;
    }

    /// <summary>The value at the box's upper edge.</summary>
    public double Top { get; }

    public bool IsEmpty => _points.Length < 2;

    public double Lowest => _points.Min(static point => point.Value);

    public double Highest => _points.Max(static point => point.Value);

    public string Line()
    {
        var path = new StringBuilder();
        foreach (var point in _points)
        {
            var verb = path.Length == 0 ? 'M' : 'L';
            path.Append(CultureInfo.InvariantCulture, $"{verb}{X(point):0.#} {Y(point):0.#}");
        }

        return path.ToString();
    }

    public string Area() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Line()}L{X(_points[^1]):0.#} {_bottom:0.#}L{X(_points[0]):0.#} {_bottom:0.#}Z");

    private double X(Point point) => (point.At - _from).TotalSeconds * _secondsToX;

    private double Y(Point point) => _bottom - point.Value * _valueToY;

    // The next of 1, 2 and 5 times a power of ten, so that the scale does not move with each point.
    private static double NiceTop(double highest)
    {
        if (highest <= 0) return 1;
        var power = Math.Pow(10, Math.Floor(Math.Log10(highest)));
        foreach (var step in (ReadOnlySpan<double>)[1, 2, 5, 10])
        {
            if (highest <= step * power) return step * power;
        }

        return 10 * power;
    }
}
