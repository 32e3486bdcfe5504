using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Server;

/// <summary>Instruments of the listener of this process.</summary>
public static class ServerTelemetry
{
    public const string MeterName = "Corfu.Server";
    public const string ActivitySourceName = "Corfu.Server";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(MeterName);

    internal static readonly UpDownCounter<int> Connections =
        Meter.CreateUpDownCounter<int>("corfu.server.connection", "{connection}", "Connections now open.");
    internal static readonly Counter<long> Refused =
        Meter.CreateCounter<long>("corfu.server.refused", "{connection}", "Handshakes refused, by reason.");
    internal static readonly Counter<long> Dropped =
        Meter.CreateCounter<long>("corfu.server.dropped", "{connection}",
            "Connections ended by the server, by reason.");

    internal static readonly Histogram<double> Handshakes =
        Meter.Duration("corfu.server.tls.handshake.duration", "Time of TLS handshakes that were finished.");
    internal static readonly Counter<long> Denied =
        Meter.CreateCounter<long>("corfu.server.denied", "{request}", "Requests denied, by role and opcode.");

    internal static void RecordDenied(AccessRole role, Opcode opcode) => Denied.Add(
        1, "corfu.role".With(role.ToString()), "corfu.opcode".With(RequestTimes.NameOf(opcode)));

    internal static readonly Histogram<double> RequestTime = Meter.Duration(
        "corfu.server.request.duration", "From receiving a request to handing its answer to the connection.");
    internal static readonly Counter<long> Io =
        Meter.CreateCounter<long>("corfu.server.io", "By", "Bytes of frames received and sent.");

    internal static readonly KeyValuePair<string, object?> Sent = "corfu.direction".With("sent");
    internal static readonly KeyValuePair<string, object?> Received = "corfu.direction".With("received");

    internal static readonly Observed<IServerFigures> Registries = new();

    private static readonly BoundedValues Identities = new(BoundedValues.Identities);

    static ServerTelemetry()
    {
        Registries.Sum(Meter, "corfu.server.request.in_flight", "{request}", "Requests without an answer yet.",
            static registry => registry.RequestsInFlight);
        Peers("connection", "{connection}", "Connections of an identity.", static peer => peer.Connections);
        Peers("request", "{request}", "Requests of an identity over the connections that are open.",
            static peer => peer.Requests);
        Peers("io", "By", "Bytes of requests of an identity over the connections that are open.",
            static peer => peer.Bytes);
    }

    private static void Peers(string name, string unit, string description, Func<IdentityReport, long> figure) =>
        Registries.Gauges(Meter, $"corfu.server.identity.{name}", unit, description, registry =>
            from peer in registry.DescribePeers()
            group figure(peer) by (Name: Identities.Of(peer.Name), peer.Role) into same
            select new Measurement<long>(same.Sum(), "corfu.identity".With(same.Key.Name),
                "corfu.role".With(same.Key.Role.ToString())));

    internal static KeyValuePair<string, object?> Reason(string reason) => "corfu.reason".With(reason);
}

/// <summary>The figures that a server tells when it is asked.</summary>
internal interface IServerFigures
{
    /// <summary>Requests of all connections without an answer yet.</summary>
    long RequestsInFlight { get; }

    /// <summary>The peers that are connected.</summary>
    ImmutableArray<IdentityReport> DescribePeers();
}
