namespace Tango.Playback;

/// <summary>State of the playbacks of this process, read when a collector asks.</summary>
internal static class PlaybackGauges
{
    public static readonly Observed<Playback> Playbacks = new();

    static PlaybackGauges() =>
        Playbacks.Highest(TangoTelemetry.Meter, "tango.playback.lag", "{position}",
            "Positions up to the last check that are not played yet.", static playback => playback.Lag);
}
