using System.Diagnostics.Metrics;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Figures of the front ends' meter while it is open.</summary>
internal sealed class Figures : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly List<(string Name, double Value, string Attributes)> _gathered = [];

    public Figures()
    {
        _listener.InstrumentPublished = (instrument, own) =>
        {
            if (instrument.Meter.Name == FrontEndTelemetry.MeterName) own.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<double>((instrument, value, attributes, _) =>
            Add(instrument, value, attributes));
        _listener.SetMeasurementEventCallback<long>((instrument, value, attributes, _) =>
            Add(instrument, value, attributes));
        _listener.Start();
    }

    /// <summary>Sum of the measurements so far.</summary>
    /// <param name="attributes">Values with blanks between.</param>
    public double SumOf(string name, string attributes)
    {
        lock (_gathered)
            return _gathered.Where(one => (one.Name, one.Attributes) == (name, attributes)).Sum(one => one.Value);
    }

    /// <summary>A gauge of now.</summary>
    public double Read(string name, string attributes)
    {
        lock (_gathered) _gathered.RemoveAll(one => one.Name == name);
        _listener.RecordObservableInstruments();
        return SumOf(name, attributes);
    }

    /// <summary>All values of a gauge now.</summary>
    public IEnumerable<string> Values(string name, string attributes)
    {
        Read(name, attributes);
        lock (_gathered)
            return [.. _gathered.Where(one => (one.Name, one.Attributes) == (name, attributes))
                .Select(one => $"{one.Value}")];
    }

    /// <summary>Returns once a gauge has a value.</summary>
    public async Task WaitAsync(string name, string attributes, double value)
    {
        while (Read(name, attributes) != value) await Task.Delay(1);
    }

    public void Dispose() => _listener.Dispose();

    private void Add(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> attributes)
    {
        var text = string.Join(' ', attributes.ToArray().Select(own => own.Value));
        lock (_gathered) _gathered.Add((instrument.Name, value, text));
    }
}
