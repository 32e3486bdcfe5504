using System.Diagnostics.Metrics;

namespace Salus.Hosting;

/// <summary>State of the Salus nodes of this process, read when a collector asks.</summary>
public static class SalusNodeTelemetry
{
    public const string MeterName = "Salus.Hosting";

    internal static readonly Observed<RunningSalusNode> Nodes = new();

    private static readonly Meter s_meter = new(MeterName);
    private static readonly BoundedValues s_stores = new(BoundedValues.Nodes);

    static SalusNodeTelemetry()
    {
        Nodes.Sum(s_meter, "salus.node.registered", "{node}", "Nodes that are registered in the log now.",
            static node => node.IsRegistered ? 1 : 0);
        Nodes.Gauges(s_meter, "salus.store.health", "{store}", "1 for the state of the store.",
            static node => Enum.GetValues<StoreState>().Select(state => new Measurement<long>(
                state == node.Store.State ? 1 : 0, StoreOf(node), "salus.health".With(state.ToString()))));
        Nodes.Gauge(s_meter, "salus.store.log.size", "By", "Bytes of the files of a store's log.",
            static node => node.Store.Bytes, StoreOf);
        Nodes.Gauge(s_meter, "salus.store.disk.free", "By", "Bytes that a store takes before it refuses batches.",
            static node => node.Store.Free, StoreOf);
        Nodes.Gauge(s_meter, "salus.store.region", "{region}", "Regions of which a store has something.",
            static node => node.Store.Regions.Length, StoreOf);
    }

    private static KeyValuePair<string, object?> StoreOf(RunningSalusNode node) =>
        "salus.store".With(s_stores.Of(node.Handler.Id.ToString()));
}
