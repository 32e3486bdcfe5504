using System.Diagnostics;
using System.Diagnostics.Metrics;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Detection;
using Corfu.Layout;
using Corfu.Sequencer;
using Corfu.Server;
using Corfu.Unit;

namespace Corfu.Hosting;

/// <summary>Names for collectors: the meter and the activity source of this package.</summary>
public static class HostingTelemetry
{
    public const string MeterName = "Corfu.Hosting";
    public const string ActivitySourceName = "Corfu.Hosting";

    /// <summary>Meters that a node's process hands to its collector.</summary>
    public static IReadOnlyList<string> Meters { get; } =
    [
        MeterName, TransportTelemetry.MeterName, ServerTelemetry.MeterName, UnitTelemetry.MeterName,
        SequencerTelemetry.MeterName,
        LayoutTelemetry.MeterName, ClientTelemetry.MeterName, StreamTelemetry.MeterName, AgentTelemetry.MeterName,
        DetectionTelemetry.MeterName,
    ];

    public static IReadOnlyList<string> ActivitySources { get; } =
    [
        ActivitySourceName, TransportTelemetry.ActivitySourceName, ServerTelemetry.ActivitySourceName,
        UnitTelemetry.ActivitySourceName,
        SequencerTelemetry.ActivitySourceName,
        LayoutTelemetry.ActivitySourceName, ClientTelemetry.ActivitySourceName, AgentTelemetry.ActivitySourceName,
    ];

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly UpDownCounter<int> NodesRunning =
        Meter.CreateUpDownCounter<int>("corfu.hosting.node", "{node}", "Nodes running in this process.");

    internal static readonly Counter<long> Reconfigurations =
        Meter.CreateCounter<long>("corfu.hosting.reconfiguration", "{reconfiguration}",
            "Epochs begun by starting a cluster.");

    internal static readonly Counter<long> AuditFailed =
        Meter.CreateCounter<long>("corfu.hosting.audit.failed", "{entry}", "Entries that the audit file lacks.");
}
