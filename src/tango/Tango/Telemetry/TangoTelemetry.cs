using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Tango;

/// <summary>Names of the package's telemetry: one meter and one activity source.</summary>
public static class TangoTelemetry
{
    public const string MeterName = "Tango";
    public const string ActivitySourceName = "Tango";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);
    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Transactions =
        Meter.CreateCounter<long>("tango.transaction", "{transaction}",
            "Transactions by outcome; aborted ones by the object that they lost to.");

    internal static readonly Counter<long> Asks =
        Meter.CreateCounter<long>("tango.ask", "{ask}",
            "Transactions that the sequencer was asked to decide, each time, by outcome.");

    internal static readonly Counter<long> Disagreements =
        Meter.CreateCounter<long>("tango.decision.disagreement", "{transaction}",
            "Transactions that the sequencer let commit, in which playback finds a conflict. Any is a defect.");

    internal static readonly Counter<long> Entries =
        Meter.CreateCounter<long>("tango.playback.entry", "{entry}", "Log entries played.");

    internal static readonly Counter<long> Records =
        Meter.CreateCounter<long>("tango.playback.record", "{record}", "Records played, hosted or not.");

    internal static readonly Counter<long> Checks =
        Meter.CreateCounter<long>("tango.playback.check", "{check}",
            "Checks of the log's tail, each shared by all callers waiting then.");

    internal static readonly Counter<long> ObjectsStopped =
        Meter.CreateCounter<long>("tango.object.failed", "{object}",
            "Objects stopped because a record could not be applied.");

    internal static readonly Histogram<long> BatchRecords =
        Meter.CreateHistogram<long>("tango.batch.record", "{record}", "Records per appended entry.");

    internal static readonly Histogram<double> TransactionTime =
        Meter.Duration("tango.transaction.duration", "From the end of a transaction's body to its outcome.");

    /// <summary>Objects that transactions lose to.</summary>
    internal static readonly BoundedValues Objects = new(BoundedValues.Objects);
}
