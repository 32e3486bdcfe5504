using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Sequencer;

/// <summary>Instruments of the sequencers of this process.</summary>
public static class SequencerTelemetry
{
    public const string MeterName = "Corfu.Sequencer";
    public const string ActivitySourceName = "Corfu.Sequencer";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Refused =
        Meter.CreateCounter<long>("corfu.sequencer.refused", "{request}",
            "Requests answered with another status than Ok, by status.");
}
