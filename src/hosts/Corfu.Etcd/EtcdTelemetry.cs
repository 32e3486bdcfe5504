using System.Diagnostics.Metrics;
using Grpc.Core;

namespace Corfu.Etcd;

/// <summary>Instruments of the front ends of this process; times in seconds.</summary>
public static class EtcdTelemetry
{
    public const string MeterName = "Corfu.Etcd";

    private static readonly Meter s_meter = new(MeterName);

    private static readonly Histogram<double> s_callTime = s_meter.Duration("corfu.etcd.call.duration",
        "From a request to its answer, by method and code; of streams until they end.");

    private static readonly UpDownCounter<long> s_watches = s_meter.CreateUpDownCounter<long>(
        "corfu.etcd.watch.open", "{watch}", "Watches of clients that are open.");

    private static readonly Counter<long> s_events = s_meter.CreateCounter<long>(
        "corfu.etcd.watch.event", "{event}", "Events that were told to watches.");

    internal static void OnCall(string method, StatusCode code, TimeSpan took)
    {
        if (!s_callTime.Enabled) return;
        s_callTime.Record(took.TotalSeconds, "corfu.method".With(method), "corfu.status".With(code.ToString()));
    }

    internal static void OnWatches(int change) => s_watches.Add(change);

    internal static void OnEvents(int count) => s_events.Add(count);
}
