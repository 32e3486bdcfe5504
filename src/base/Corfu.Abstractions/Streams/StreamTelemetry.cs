using System.Diagnostics.Metrics;

namespace Corfu;

/// <summary>Names and instruments of playing streams.</summary>
public static class StreamTelemetry
{
    public const string MeterName = "Corfu.Streams";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Scanned = Meter.CreateCounter<long>(
        "corfu.stream.scanned", "{position}",
        "Positions read one by one because a stream's backpointers led to bare junk.");
}
