using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Corfu.Client;

namespace Corfu.Load;

/// <summary>Counts of this process' clients since the start.</summary>
internal sealed class ClientCounters : IDisposable
{
    private readonly ConcurrentDictionary<string, long> _counts = new();
    private readonly MeterListener _listener = new();

    public ClientCounters()
    {
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == ClientTelemetry.MeterName && instrument is Counter<long>
                && IsRare(instrument.Name)) listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>(
            (instrument, value, _, _) => _counts.AddOrUpdate(instrument.Name, value, (_, sum) => sum + value));
        _listener.Start();
    }

    public long this[string name] => _counts.GetValueOrDefault("corfu.client." + name);

    public void Dispose() => _listener.Dispose();

    // Counting must not cost the hot paths anything.
    private static bool IsRare(string name) =>
        name.StartsWith("corfu.client.hole.", StringComparison.Ordinal);
}
