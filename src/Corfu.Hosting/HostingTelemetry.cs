using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Hosting;

/// <summary>Names for collectors: the meter and the activity source of this package.</summary>
public static class HostingTelemetry
{
    public const string MeterName = "Corfu.Hosting";
    public const string ActivitySourceName = "Corfu.Hosting";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(MeterName);

    internal static readonly UpDownCounter<int> NodesRunning =
        Meter.CreateUpDownCounter<int>("corfu.hosting.nodes", "{node}", "Nodes running in this process.");

    internal static readonly Counter<long> Reconfigurations =
        Meter.CreateCounter<long>("corfu.hosting.reconfigurations", "{reconfiguration}", "Epochs begun by starting a cluster.");
}
