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
        "corfu.layout.commits", "{commit}", "Batches of promises, votes and decisions made durable.");

    internal static readonly Counter<long> Failures = Meter.CreateCounter<long>(
        "corfu.layout.failures", "{failure}", "Acceptors that a disk error stopped until their process restarts.");
}
