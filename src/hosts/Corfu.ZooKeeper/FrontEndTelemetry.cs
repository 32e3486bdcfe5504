using System.Diagnostics.Metrics;
using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper;

/// <summary>Instruments of the front ends of this process; times in seconds.</summary>
public static class FrontEndTelemetry
{
    public const string MeterName = "Corfu.ZooKeeper";

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Expired = Meter.CreateCounter<long>("corfu.zookeeper.session.expired",
        "{session}", "Silent sessions that this front end asked the tree to end.");

    private static readonly Counter<long> s_closed = Meter.CreateCounter<long>("corfu.zookeeper.connection.closed",
        "{connection}", "Connections that the front end closed for a reason of its own, each with a line of the log.");

    internal static readonly Counter<long> Notified = Meter.CreateCounter<long>(
        "corfu.zookeeper.notification", "{notification}", "Notifications of watches that were sent.");

    private static readonly Histogram<double> s_requestTime = Meter.Duration("corfu.zookeeper.request.duration",
        "From the last byte of a request to its reply, by type of request and code.");

    /// <param name="reason">A <see cref="CloseReason"/>.</param>
    internal static void OnClosed(string reason) => s_closed.Add(1, "corfu.reason".With(reason));

    internal static void OnReply(OpCode code, ErrorCode error, TimeSpan took)
    {
        if (!s_requestTime.Enabled) return;
        s_requestTime.Record(took.TotalSeconds, "corfu.opcode".With(NameOf(code)), "corfu.status".With(NameOf(error)));
    }

    // A client makes no series of its own.
    private static string NameOf(OpCode code) => Enum.IsDefined(code) ? code.ToString() : BoundedValues.Other;

    private static string NameOf(ErrorCode error) => Enum.IsDefined(error) ? error.ToString() : BoundedValues.Other;
}
