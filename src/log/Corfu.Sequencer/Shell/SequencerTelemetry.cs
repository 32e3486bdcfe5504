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

    internal static readonly Counter<long> Tokens =
        Meter.CreateCounter<long>("corfu.sequencer.token", "{position}", "Positions granted.");

    internal static readonly Observed<SequencerHandler> Sequencers = new();

    static SequencerTelemetry()
    {
        Sequencers.Highest(Meter, "corfu.sequencer.tail", "{position}", "Nothing at or above it is granted.",
            static one => one.Figures.Tail);
        Sequencers.Sum(Meter, "corfu.sequencer.stream", "{stream}", "Streams whose tails are held.",
            static one => one.Figures.Streams);
        Sequencers.Highest(Meter, "corfu.sequencer.epoch", "{epoch}", "Epoch in which it grants.",
            static one => one.Figures.Epoch);
    }
}
