using System.Diagnostics.Metrics;

namespace Corfu.Server;

/// <summary>Instruments of the listener of this process.</summary>
public static class ServerTelemetry
{
    public const string MeterName = "Corfu.Server";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly UpDownCounter<int> Connections =
        Meter.CreateUpDownCounter<int>("corfu.server.connections", "{connection}", "Connections now open.");
    internal static readonly Counter<long> Refused =
        Meter.CreateCounter<long>("corfu.server.refused", "{connection}", "Handshakes refused, by reason.");
    internal static readonly Counter<long> Dropped =
        Meter.CreateCounter<long>("corfu.server.dropped", "{connection}",
            "Connections ended by the server, by reason.");

    internal static readonly Histogram<double> Handshakes =
        Meter.CreateHistogram<double>("corfu.server.tls.handshake.duration", "s",
            "Time of TLS handshakes that were finished.");
    internal static readonly Counter<long> Denied =
        Meter.CreateCounter<long>("corfu.server.denied", "{request}", "Requests denied, by role and opcode.");

    internal static void RecordDenied(AccessRole role, Opcode opcode) => Denied.Add(
        1, new("role", role.ToString()), new("opcode", opcode.ToString()));

    internal static KeyValuePair<string, object?> Reason(string reason) => new("reason", reason);
}
