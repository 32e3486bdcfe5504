using System.Diagnostics.Metrics;
using Tango;

namespace Corfu.Simulation.Cluster;

/// <summary>R29: a host of what a decided record read knows all versions of it, by full keys. One that tells another
/// outcome is a finding, whatever the workload has recorded.</summary>
internal sealed class DisagreementWatch : IDisposable
{
    private readonly MeterListener _listener = new();

    public DisagreementWatch(ClusterMonitor monitor)
    {
        // The listener hears all runs of the process; a run has one thread.
        int thread = Environment.CurrentManagedThreadId;
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument is { Name: "tango.decision.disagreement", Meter.Name: TangoTelemetry.MeterName })
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>((_, _, _, _) =>
        {
            if (Environment.CurrentManagedThreadId == thread)
                monitor.Found(CheckerNames.Decided, "a host knows a write that a decided record must not have passed");
        });
        _listener.Start();
    }

    public void Dispose() => _listener.Dispose();
}
