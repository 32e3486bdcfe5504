using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Agent;

/// <summary>Names for collectors: the meter and the activity source of this package.</summary>
public static class AgentTelemetry
{
    public const string MeterName = "Corfu.Agent";
    public const string ActivitySourceName = "Corfu.Agent";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Reconfigurations =
        Meter.CreateCounter<long>("corfu.agent.reconfiguration", "{reconfiguration}",
            "Epochs that this agent brought about.");

    internal static readonly Counter<long> Disagreements =
        Meter.CreateCounter<long>("corfu.agent.disagreement", "{verdict}",
            "Suspicions that other agents did not share.");

    internal static readonly Histogram<double> ReconfigurationTime = Meter.Duration(
        "corfu.agent.reconfiguration.duration", "From the first question to other agents to the decided epoch.");
}
