namespace Tango.Playback;

/// <summary>State of the runtimes of this process, read when a collector asks.</summary>
internal static class PlaybackGauges
{
    public static readonly Observed<Player> Players = new();

    static PlaybackGauges() =>
        Players.Highest(TangoTelemetry.Meter, "tango.playback.lag", "{position}",
            "Positions up to the last check that are not played yet.", static player => player.Lag);
}
