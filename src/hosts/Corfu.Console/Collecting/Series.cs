namespace Corfu.WebConsole.Collecting;

/// <summary>The newest points of one figure, oldest first.</summary>
public sealed class Series(int capacity)
{
    // Guarded by itself: the collector adds, pages copy.
    private readonly Queue<Point> _points = new(capacity);

    public void Add(DateTimeOffset at, double value)
    {
        lock (_points)
        {
            if (_points.Count == capacity) _points.Dequeue();
            _points.Enqueue(new Point(at, value));
        }
    }

    public ImmutableArray<Point> ToPoints()
    {
        lock (_points) return [.. _points];
    }
}

/// <summary>A figure's value at a time.</summary>
public readonly record struct Point(DateTimeOffset At, double Value);
