using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;

namespace Corfu;

/// <summary>How all instruments are made: names, units and attributes follow OpenTelemetry's conventions
/// (docs/metrics.md). Every project compiles this file for itself.</summary>
internal static class Instruments
{
    /// <summary>18 buckets from 50 us to 10 s, 1-2-5: a sync of a fast disk and an append that waits for a
    /// reconfiguration both lie inside.</summary>
    private static readonly InstrumentAdvice<double> Seconds = new()
    {
        HistogramBucketBoundaries =
            [0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    };

    private static readonly InstrumentAdvice<long> Bytes = new()
    {
        HistogramBucketBoundaries = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20],
    };

    public static Histogram<double> Duration(this Meter meter, string name, string description) =>
        meter.CreateHistogram(name, "s", description, tags: null, Seconds);

    public static Histogram<long> Size(this Meter meter, string name, string description) =>
        meter.CreateHistogram(name, "By", description, tags: null, Bytes);

    public static KeyValuePair<string, object?> With(this string attribute, object? value) => new(attribute, value);
}

/// <summary>The objects of this process whose state gauges read when a collector asks: between two collections an
/// object costs nothing. An object that its owner forgot to remove goes with the garbage collector.</summary>
internal sealed class Observed<T>
    where T : class
{
    private readonly ConditionalWeakTable<T, object> _live = [];

    public IEnumerable<T> Live => _live.Select(static entry => entry.Key);

    public void Add(T one) => _live.TryAdd(one, this);

    public void Remove(T one) => _live.Remove(one);

    /// <summary>A figure of each object.</summary>
    /// <param name="figure">Null: the object has no such figure now.</param>
    public void Gauge(Meter meter, string name, string unit, string description, Func<T, long?> figure,
        Func<T, KeyValuePair<string, object?>> attribute) =>
        Gauges(meter, name, unit, description,
            one => figure(one) is { } value ? [new Measurement<long>(value, attribute(one))] : []);

    /// <param name="figures">Each has its own combination of attributes.</param>
    public void Gauges(Meter meter, string name, string unit, string description,
        Func<T, IEnumerable<Measurement<long>>> figures) =>
        meter.CreateObservableGauge(name, () => Live.SelectMany(figures), unit, description);

    /// <summary>The highest figure; none while there is no object.</summary>
    public void Highest(Meter meter, string name, string unit, string description, Func<T, long> figure) =>
        meter.CreateObservableGauge(name,
            () => Live.Select(figure).DefaultIfEmpty(-1).Max() is >= 0 and var highest
                ? new Measurement<long>[] { new(highest) }
                : [],
            unit, description);

    /// <summary>The figure's sum over all objects.</summary>
    public void Sum(Meter meter, string name, string unit, string description, Func<T, long> figure) =>
        meter.CreateObservableUpDownCounter(name, () => Live.Sum(figure), unit, description);
}

/// <summary>Values of an attribute that come from outside: the first ones keep their names, the rest is
/// <c>other</c>, so that no caller makes a collector keep more series.</summary>
internal sealed class BoundedValues(int limit)
{
    public const string Other = "other";
    public const int Identities = 64;
    public const int Objects = 256;
    public const int Nodes = 64;

    private readonly ConcurrentDictionary<string, string> _known = new(StringComparer.Ordinal);

    public string Of(string value)
    {
        if (_known.TryGetValue(value, out var known)) return known;
        return _known.Count < limit ? _known.GetOrAdd(value, value) : Other;
    }
}
