using System.Diagnostics.Metrics;

namespace Corfu.Detection;

/// <summary>Names for collectors: the meter of this package.</summary>
public static class DetectionTelemetry
{
    public const string MeterName = "Corfu.Detection";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Suspicions =
        Meter.CreateCounter<long>("corfu.agent.suspicions", "{verdict}",
            "Nodes found dead, silent, broken, full or slow, by health.");
}
