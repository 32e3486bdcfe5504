using System.Diagnostics.Metrics;
using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>A port for clients.</summary>
internal interface IServing
{
    string Service { get; }

    /// <summary>Null: clients are served.</summary>
    string? Fault { get; }
}

/// <summary>State of the front ends of this process, read when a collector asks.</summary>
internal static class FrontEndGauges
{
    private static readonly KeyValuePair<string, object?> s_in = "corfu.direction".With("in");
    private static readonly KeyValuePair<string, object?> s_out = "corfu.direction".With("out");

    public static readonly Observed<FrontEndServices> FrontEnds = new();

    public static readonly Observed<IServing> Serving = new();

    static FrontEndGauges()
    {
        Serving.Gauge(FrontEndTelemetry.Meter, "corfu.zookeeper.serving", "{server}",
            "1: the tree is played, and the log has confirmed a beat.",
            static server => server.Fault is null ? 1 : 0, static server => "corfu.service".With(server.Service));
        Gauge("corfu.zookeeper.connection", "{connection}", "Connections that are open.",
            static services => services.Dispatcher.Connections.Count);
        Gauge("corfu.zookeeper.session", "{session}", "Sessions of the tree, at all its front ends.",
            static services => services.Dispatcher.Root?.SessionCount ?? 0);
        Gauge("corfu.zookeeper.node", "{node}", "Nodes of the tree.",
            static services => services.Dispatcher.Root?.NodeCount ?? 0);
        Gauge("corfu.zookeeper.watch", "{watch}", "Watches of the connections that are open.",
            static services => services.Dispatcher.Watches.Count);
        FrontEnds.Gauges(FrontEndTelemetry.Meter, "corfu.zookeeper.queue.size", "By",
            "Requests without a reply, and packets that clients have not taken.", QueuedBytes);
    }

    private static IEnumerable<Measurement<long>> QueuedBytes(FrontEndServices services)
    {
        var service = "corfu.service".With(services.Service);
        lock (services.Dispatcher.Gate)
        {
            var connections = services.Dispatcher.Connections;
            return
            [
                new Measurement<long>(connections.InputBytes, s_in, service),
                new Measurement<long>(connections.OutputBytes, s_out, service),
            ];
        }
    }

    private static void Gauge(string name, string unit, string description, Func<FrontEndServices, long> figure) =>
        FrontEnds.Gauge(FrontEndTelemetry.Meter, name, unit, description, services =>
        {
            lock (services.Dispatcher.Gate) return figure(services);
        }, static services => "corfu.service".With(services.Service));
}
