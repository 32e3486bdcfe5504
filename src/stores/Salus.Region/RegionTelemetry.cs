using System.Diagnostics.Metrics;

namespace Salus.Region;

/// <summary>Instruments of the region servers of this process; times in seconds.</summary>
public static class RegionTelemetry
{
    public const string MeterName = "Salus.Region";

    private static readonly Meter s_meter = new(MeterName);

    internal static readonly Counter<long> Batches =
        Count("batch", "batch", "Batches that a primary has given a place in its region's log.");

    internal static readonly Histogram<long> BatchSize =
        s_meter.Size("salus.region.batch.size", "Bytes of blocks of a batch at the primary of a region.");

    internal static readonly Counter<long> Votes =
        Count("vote", "vote", "Batches that all members of a region have durable: the region's votes.");

    internal static readonly Counter<long> Decisions =
        Count("decision", "batch", "Batches that a leader has proven committed.");

    internal static readonly Counter<long> Commits =
        Count("batch.committed", "batch", "Batches that a member has applied behind a proof.");

    internal static readonly Counter<long> Voids =
        Count("batch.void", "batch", "Batches that the beginning of a run has made void at a member.");

    internal static readonly Counter<long> ReadFailures = Count("read.failed", "request",
        "Reads that a member could not answer from its own files, since they are damaged or missing.");

    internal static readonly Histogram<double> RecoveryTime = s_meter.Duration("salus.region.recovery.duration",
        "From a generation's record in the log to a member that is ready to serve it.");

    internal static readonly Counter<long> FailedRecoveries =
        Count("recovery.failed", "recovery", "Attempts of recoveries that failed; each is made again.");

    internal static readonly Counter<long> DamagedFiles =
        Count("file.damaged", "file", "Checkpoint files that a reader or the scrub found damaged or missing.");

    internal static readonly Counter<long> MendedFiles =
        Count("file.mended", "file", "Damaged checkpoint files that a peer has given again.");

    internal static readonly Counter<long> DamagedRecords =
        Count("record.damaged", "record", "Records of the store's log that were found damaged.");

    internal static readonly Counter<long> MendedRecords =
        Count("record.mended", "record", "Damaged records of the log that a peer has given again.");

    private static readonly Counter<long> s_reads = Count("read", "request", "Reads of blocks that a member answered.");

    private static readonly Counter<long> s_io =
        s_meter.CreateCounter<long>("salus.region.io", "By", "Bytes of blocks read and written at a member.");

    private static readonly KeyValuePair<string, object?> s_read = "salus.direction".With("read");
    private static readonly KeyValuePair<string, object?> s_written = "salus.direction".With("written");

    internal static void Read(long bytes)
    {
        s_reads.Add(1);
        s_io.Add(bytes, s_read);
    }

    internal static void Committed(long bytes)
    {
        Commits.Add(1);
        s_io.Add(bytes, s_written);
    }

    private static Counter<long> Count(string name, string unit, string description) =>
        s_meter.CreateCounter<long>($"salus.region.{name}", $"{{{unit}}}", description);
}
