using System.Diagnostics.Metrics;
using Tango;

namespace Corfu.Load;

/// <summary>Records that runtimes of this process play while it lives.</summary>
internal sealed class PlayedRecords : IDisposable
{
    private readonly MeterListener _listener = new();
    private long _count;

    public PlayedRecords()
    {
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == TangoTelemetry.MeterName && instrument.Name == "tango.playback.record")
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>((_, value, _, _) => Interlocked.Add(ref _count, value));
        _listener.Start();
    }

    public long Count => Interlocked.Read(ref _count);

    public void Dispose() => _listener.Dispose();
}
