using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Layout;

/// <summary>Names of the package's telemetry, and its instruments.</summary>
public static class LayoutTelemetry
{
    public const string MeterName = "Corfu.Layout";
    public const string ActivitySourceName = "Corfu.Layout";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Commits = Meter.CreateCounter<long>(
        "corfu.layout.commit", "{commit}", "Batches of promises, votes and decisions made durable.");

    internal static readonly Counter<long> Failures = Meter.CreateCounter<long>(
        "corfu.layout.failure", "{failure}", "Acceptors that a disk error stopped until their process restarts.");

    internal static readonly Histogram<double> SyncTime = Meter.Duration(
        "corfu.layout.sync.duration", "A sync of an acceptor's log.");

    internal static readonly Counter<long> Outbid = Meter.CreateCounter<long>(
        "corfu.layout.ballot.outbid", "{request}", "Requests refused because a higher ballot was promised.");

    internal static readonly Observed<AcceptorHandler> Acceptors = new();

    static LayoutTelemetry()
    {
        Acceptors.Highest(Meter, "corfu.layout.epoch", "{epoch}", "Newest decided epoch that the acceptor knows.",
            static one => one.Latest?.Epoch.Value ?? 0);
        Acceptors.Highest(Meter, "corfu.layout.slot.highest", "{epoch}", "Highest epoch with a ballot or a decision.",
            static one => one.HighestSlot.Value);
        Acceptors.Sum(Meter, "corfu.layout.watcher", "{request}", "Requests that wait for the next epoch.",
            static one => one.WatcherCount);
    }
}
