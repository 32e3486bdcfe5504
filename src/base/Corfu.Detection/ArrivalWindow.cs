namespace Corfu.Detection;

/// <summary>The last intervals between answers of one node, and how surprising a longer one is (phi-accrual).</summary>
internal sealed class ArrivalWindow(DetectorOptions options)
{
    private readonly double[] _intervals = new double[options.Window];

    // The first _count entries are there; _sum and _squares are over exactly those.
    private int _count;
    private int _next;
    private double _sum;
    private double _squares;

    public void Add(TimeSpan interval)
    {
        var value = interval.TotalMilliseconds;
        if (_count == _intervals.Length)
        {
            var old = _intervals[_next];
            _sum -= old;
            _squares -= old * old;
        }
        else
        {
            _count++;
        }

        _intervals[_next] = value;
        _next = (_next + 1) % _intervals.Length;
        _sum += value;
        _squares += value * value;
    }

    public double Phi(TimeSpan silence)
    {
        var mean = _count == 0 ? options.Interval.TotalMilliseconds : _sum / _count;
        var variance = _count == 0 ? 0 : Math.Max(0, (_squares / _count) - (mean * mean));
        var deviation = Math.Max(Math.Sqrt(variance), options.MinDeviation.TotalMilliseconds);
        var y = (silence.TotalMilliseconds - mean - options.AcceptablePause.TotalMilliseconds) / deviation;

        // The logistic approximation of the normal distribution's tail; its logarithm directly, which never
        // under-flows.
        var x = y * (1.5976 + (0.070566 * y * y));
        return (x > 30 ? x : Math.Log(1 + Math.Exp(x))) / Math.Log(10);
    }
}
