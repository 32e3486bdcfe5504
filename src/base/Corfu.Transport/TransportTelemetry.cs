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
        Meter.CreateUpDownCounter<int>("corfu.transport.connection", "{connection}", "Connections now open.");
    internal static readonly Counter<long> ConnectFailures =
        Meter.CreateCounter<long>("corfu.transport.connect_failure", "{attempt}", "Connection attempts that failed.");
    internal static readonly Histogram<double> Handshakes = Meter.Duration(
        "corfu.transport.tls.handshake.duration", "Time of TLS handshakes that were finished.");
    internal static readonly Counter<long> Reloads = Meter.CreateCounter<long>(
        "corfu.transport.tls.reload", "{reload}", "Changed files of certificates, taken or refused.");
    internal static readonly Counter<long> Timeouts =
        Meter.CreateCounter<long>("corfu.transport.timeout", "{request}", "Requests without an answer in time.");
    internal static readonly Histogram<double> CallTime = Meter.Duration(
        "corfu.transport.call.duration", "From handing a request to its connection to its answer.");
    internal static readonly Counter<long> Io =
        Meter.CreateCounter<long>("corfu.transport.io", "By", "Bytes sent and received.");

    private static readonly string[] Opcodes = [.. Enumerable.Range(0, 256).Select(code => NameOf((Opcode)code))];

    internal static readonly KeyValuePair<string, object?> Taken = "corfu.outcome".With("taken");
    internal static readonly KeyValuePair<string, object?> Refused = "corfu.outcome".With("refused");
    internal static readonly KeyValuePair<string, object?> Sent = "corfu.direction".With("sent");
    internal static readonly KeyValuePair<string, object?> Received = "corfu.direction".With("received");

    /// <param name="status">The answer's, or the fault because of which there is none.</param>
    internal static void RecordCall(TimeSpan took, Opcode opcode, string status) =>
        CallTime.Record(took.TotalSeconds, "corfu.opcode".With(Opcodes[(byte)opcode]), "corfu.status".With(status));

    /// <summary>The span of a request within a recorded activity; null without one. The caller's activity stays the
    /// current one.</summary>
    internal static Activity? StartCall(Opcode opcode, NodeAddress to)
    {
        if (!Activities.HasListeners() || Activity.Current is not { Recorded: true } caller) return null;
        var call = Activities.StartActivity("corfu.call", ActivityKind.Client);
        Activity.Current = caller;
        call?.SetTag("corfu.opcode", Opcodes[(byte)opcode]);
        call?.SetTag("server.address", to.Endpoint.ToString());
        return call;
    }

    /// <summary>The current activity of the thread, which serves all calls, stays what it was.</summary>
    internal static void End(Activity call, string status)
    {
        var current = Activity.Current;
        call.SetTag("corfu.status", status);
        call.Dispose();
        Activity.Current = current;
    }

    // Opcodes of other systems' roles share a name: their number is theirs to give.
    private static string NameOf(Opcode opcode) => Enum.IsDefined(opcode) ? opcode.ToString() : BoundedValues.Other;
}
