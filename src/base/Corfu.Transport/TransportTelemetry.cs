using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Transport;

/// <summary>Instruments of the client connections of this process.</summary>
public static class TransportTelemetry
{
    public const string MeterName = "Corfu.Transport";
    public const string ActivitySourceName = "Corfu.Transport";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(MeterName);

    internal static readonly UpDownCounter<int> Connections =
        Meter.CreateUpDownCounter<int>("corfu.transport.connections", "{connection}", "Connections now open.");
    internal static readonly Counter<long> ConnectFailures =
        Meter.CreateCounter<long>("corfu.transport.connect_failures", "{attempt}", "Connection attempts that failed.");
    internal static readonly Histogram<double> Handshakes =
        Meter.CreateHistogram<double>("corfu.transport.tls.handshake.duration", "s",
            "Time of TLS handshakes that were finished.");
    internal static readonly Counter<long> Timeouts =
        Meter.CreateCounter<long>("corfu.transport.timeouts", "{request}", "Requests without an answer in time.");
}
