using System.Diagnostics.Metrics;
using Salus.Coordination;

namespace Salus.Hosting;

/// <summary>State of the Salus nodes of this process, read when a collector asks.</summary>
public static class SalusNodeTelemetry
{
    public const string MeterName = "Salus.Hosting";

    internal static readonly Observed<RunningSalusNode> Nodes = new();

    private static readonly Meter s_meter = new(MeterName);
    private static readonly BoundedValues s_volumes = new(BoundedValues.Objects);
    private static readonly BoundedValues s_stores = new(BoundedValues.Nodes);

    static SalusNodeTelemetry()
    {
        Nodes.Sum(s_meter, "salus.node.registered", "{node}", "Nodes that are registered in the log now.",
            static node => node.IsRegistered ? 1 : 0);
        Nodes.Gauge(s_meter, "salus.node.region", "{region}", "Regions that a node is a member of.",
            static node => node.Regions.Member, StoreOf);
        Nodes.Gauge(s_meter, "salus.node.region.recovering", "{region}",
            "Regions of those that answer nothing yet, since they are being recovered.",
            static node => node.Regions.Recovering, StoreOf);
        Nodes.Highest(s_meter, "salus.volume.region.unrecovered", "{region}",
            "Regions of all volumes whose newest generation takes no batches yet, as a node has played the log.",
            static node => node.Unrecovered);
        s_meter.CreateObservableGauge("salus.volume.health", Healths, "{volume}",
            "1 for the health of a volume, as a node has played the log.");
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

    // Nodes of the same log know the same volumes.
    private static IEnumerable<Measurement<long>> Healths() =>
        from volume in Nodes.Live.SelectMany(static node => node.Volumes).DistinctBy(static volume => volume.Entry.Id)
        from health in Enum.GetValues<VolumeHealth>()
        select new Measurement<long>(volume.Health == health ? 1 : 0, "salus.volume".With(s_volumes.Of(volume.Name)),
            "salus.health".With(health.ToString()));

    private static KeyValuePair<string, object?> StoreOf(RunningSalusNode node) =>
        "salus.store".With(s_stores.Of(node.Handler.Id.ToString()));
}
