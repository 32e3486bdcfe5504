using System.Diagnostics.Metrics;

namespace Corfu.Detection;

/// <summary>Names for collectors: the meter of this package.</summary>
public static class DetectionTelemetry
{
    public const string MeterName = "Corfu.Detection";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Suspicions =
        Meter.CreateCounter<long>("corfu.agent.suspicion", "{verdict}",
            "Nodes found dead, silent, broken, full or slow, by health.");

    internal static readonly Histogram<double> ProbeTime = Meter.Duration(
        "corfu.agent.probe.duration", "Probes of nodes, by role and outcome.");
}
