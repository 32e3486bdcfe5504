using System.Diagnostics.Metrics;
using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper;

/// <summary>Instruments of the front ends of this process; times in seconds.</summary>
public static class FrontEndTelemetry
{
    public const string MeterName = "Corfu.ZooKeeper";

    private static readonly Meter s_meter = new(MeterName);

    internal static readonly Counter<long> Expired = s_meter.CreateCounter<long>("corfu.zookeeper.session.expired",
        "{session}", "Silent sessions that this front end asked the tree to end.");

    internal static readonly Counter<long> Closed = s_meter.CreateCounter<long>("corfu.zookeeper.connection.closed",
        "{connection}", "Connections that the front end closed for a reason of its own, each with a line of the log.");

    internal static readonly Counter<long> Notified = s_meter.CreateCounter<long>(
        "corfu.zookeeper.notification", "{notification}", "Notifications of watches that were sent.");

    private static readonly Histogram<double> s_requestTime = s_meter.Duration("corfu.zookeeper.request.duration",
        "From the last byte of a request to its reply, by type of request and code.");

    private static readonly KeyValuePair<string, object?> s_in = "corfu.direction".With("in");
    private static readonly KeyValuePair<string, object?> s_out = "corfu.direction".With("out");

    internal static readonly Observed<FrontEndServices> FrontEnds = new();

    static FrontEndTelemetry()
    {
        Gauge("corfu.zookeeper.serving", "{server}", "1: the tree is played, and the log has confirmed a beat.",
            static services => services.Dispatcher.IsServing ? 1 : 0);
        Gauge("corfu.zookeeper.connection", "{connection}", "Connections that are open.",
            static services => services.Dispatcher.Connections.Count);
        Gauge("corfu.zookeeper.session", "{session}", "Sessions of the tree, at all its front ends.",
            static services => services.Dispatcher.Root?.SessionCount ?? 0);
        Gauge("corfu.zookeeper.node", "{node}", "Nodes of the tree.",
            static services => services.Dispatcher.Root?.NodeCount ?? 0);
        Gauge("corfu.zookeeper.watch", "{watch}", "Watches of the connections that are open.",
            static services => services.Dispatcher.Watches.Count);
        FrontEnds.Gauges(s_meter, "corfu.zookeeper.queue.size", "By",
            "Requests without a reply, and packets that clients have not taken.", static services =>
            {
                lock (services.Dispatcher.Gate)
                {
                    var (input, output) = services.Dispatcher.Connections.QueuedBytes();
                    return
                    [
                        new Measurement<long>(input, s_in, "corfu.service".With(services.Service)),
                        new Measurement<long>(output, s_out, "corfu.service".With(services.Service)),
                    ];
                }
            });
    }

    internal static void OnReply(OpCode code, ErrorCode error, TimeSpan took)
    {
        if (!s_requestTime.Enabled) return;
        s_requestTime.Record(took.TotalSeconds, "corfu.opcode".With(NameOf(code)), "corfu.status".With(NameOf(error)));
    }

    private static void Gauge(string name, string unit, string description, Func<FrontEndServices, long> figure) =>
        FrontEnds.Gauge(s_meter, name, unit, description, services =>
        {
            lock (services.Dispatcher.Gate) return figure(services);
        }, static services => "corfu.service".With(services.Service));

    // A client makes no series of its own.
    private static string NameOf(OpCode code) => Enum.IsDefined(code) ? code.ToString() : BoundedValues.Other;

    private static string NameOf(ErrorCode error) => Enum.IsDefined(error) ? error.ToString() : BoundedValues.Other;
}
