using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Transport;

/// <summary>Counters of both sides of the transport, one instrument each, tagged with the reason where there is more than one.</summary>
public static class TransportMeter
{
    public const string Name = "Corfu.Transport";
    public const string ActivitySourceName = "Corfu.Transport";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(Name);

    internal static readonly UpDownCounter<int> ServerConnections =
        Meter.CreateUpDownCounter<int>("corfu.transport.server.connections", "{connection}", "Connections now open at servers.");

    internal static readonly Counter<long> ServerRefused =
        Meter.CreateCounter<long>("corfu.transport.server.refused", "{connection}", "Handshakes refused, by reason.");

    internal static readonly Counter<long> ServerDropped =
        Meter.CreateCounter<long>("corfu.transport.server.dropped", "{connection}", "Connections ended by the server, by reason.");

    internal static readonly UpDownCounter<int> ClientConnections =
        Meter.CreateUpDownCounter<int>("corfu.transport.client.connections", "{connection}", "Connections now open at clients.");

    internal static readonly Counter<long> ClientConnectFailures =
        Meter.CreateCounter<long>("corfu.transport.client.connect_failures", "{attempt}", "Connection attempts that failed.");

    internal static readonly Counter<long> ClientTimeouts =
        Meter.CreateCounter<long>("corfu.transport.client.timeouts", "{request}", "Requests without an answer in time.");

    internal static KeyValuePair<string, object?> Reason(string reason) => new("reason", reason);
}
