using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Tango;

/// <summary>Names of the package's telemetry: one meter and one activity source.</summary>
public static class TangoTelemetry
{
    public const string MeterName = "Tango";
    public const string ActivitySourceName = "Tango";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);
    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Transactions =
        Meter.CreateCounter<long>("tango.transactions", "{transaction}", "Transactions by outcome");

    internal static readonly Counter<long> Entries =
        Meter.CreateCounter<long>("tango.playback.entries", "{entry}", "Log entries played");

    internal static readonly Counter<long> Records =
        Meter.CreateCounter<long>("tango.playback.records", "{record}", "Records played, hosted or not");

    internal static readonly Counter<long> Checks =
        Meter.CreateCounter<long>("tango.playback.checks", "{check}",
            "Checks of the log's tail, each shared by all callers waiting then");

    internal static readonly Counter<long> ObjectsStopped =
        Meter.CreateCounter<long>("tango.objects.stopped", "{object}",
            "Objects stopped because a record could not be applied");

    internal static readonly Histogram<long> BatchRecords =
        Meter.CreateHistogram<long>("tango.batch.records", "{record}", "Records per appended entry");
}
