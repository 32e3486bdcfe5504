using System.Diagnostics.Metrics;
using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>Counts of a client's runtime: transactions that the sequencer let commit, and those in which playback finds
/// a conflict that the sequencer has missed.</summary>
internal sealed class TxCounters : IDisposable
{
    private const string Ask = "tango.ask";
    private const string Disagreement = "tango.decision.disagreement";

    private readonly MeterListener _listener = new();
    private long _asked;
    private long _disagreements;

    public TxCounters()
    {
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == TangoTelemetry.MeterName && instrument.Name is Ask or Disagreement)
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>(Count);
        _listener.Start();
    }

    public long Asked => Volatile.Read(ref _asked);

    public long Disagreements => Volatile.Read(ref _disagreements);

    public void Dispose() => _listener.Dispose();

    private void Count(
        Instrument instrument, long count, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        if (instrument.Name == Disagreement)
        {
            Interlocked.Add(ref _disagreements, count);
            return;
        }

        foreach (var (_, outcome) in tags)
        {
            if (outcome is "committed") Interlocked.Add(ref _asked, count);
        }
    }
}
