using System.Diagnostics.Metrics;

namespace Salus;

/// <summary>Names and instruments of this package; times in seconds.</summary>
public static class SalusClientTelemetry
{
    public const string MeterName = "Salus.Client";

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Histogram<double> ReadTime =
        Meter.Duration("salus.client.read.duration", "One read of a volume, verified.");

    internal static readonly Histogram<double> CommitTime = Meter.Duration(
        "salus.client.commit.duration", "One batch, from its number to the proof that it is committed.");

    internal static readonly Histogram<double> MountTime =
        Meter.Duration("salus.client.mount.duration", "One mount of a volume, from call to the first write.");

    internal static readonly Histogram<long> BatchSize =
        Meter.Size("salus.client.batch.size", "Bytes of the blocks that a batch writes.");

    internal static readonly UpDownCounter<long> Pending = Meter.CreateUpDownCounter<long>(
        "salus.client.batch.pending", "{batch}", "Batches that have a number and no proof yet.");

    internal static readonly Counter<long> Retransmissions =
        Count("retransmission", "batch", "Parts of batches that were sent again.");

    internal static readonly Counter<long> SecondReads =
        Count("read.second", "read", "Questions to another member, because one was silent, behind or damaged.");

    internal static readonly Counter<long> WrongAnswers =
        Count("answer.wrong", "answer", "Answers of members that do not match the volume's hash tree.");

    internal static readonly Counter<long> Unverifiable =
        Count("read.unverifiable", "read", "Reads for which no copy matches the hash tree, up to now.");

    internal static readonly Counter<long> LostLeases =
        Count("lease.lost", "lease", "Mounted volumes that another process may write now, or that were given up.");

    internal static readonly UpDownCounter<long> Mounted = Meter.CreateUpDownCounter<long>(
        "salus.client.volume", "{volume}", "Volumes that are mounted for writing, with their locks held.");

    internal static readonly Counter<long> Refusals =
        Count("run.refused", "run", "Runs that ended because a store refused a batch.");

    internal static readonly Counter<long> Resumptions =
        Count("region.resumed", "region", "New generations of regions that were compared and admitted.");

    private static readonly Counter<long> s_writes =
        Count("write", "write", "Writes and discards that have a place in the volume's order.");

    private static readonly Counter<long> s_io =
        Meter.CreateCounter<long>("salus.client.io", "By", "Bytes of verified reads, and of writes that have a place.");

    private static readonly KeyValuePair<string, object?> s_read = "salus.direction".With("read");
    private static readonly KeyValuePair<string, object?> s_written = "salus.direction".With("written");

    internal static void Read(TimeSpan time, int bytes)
    {
        ReadTime.Record(time.TotalSeconds);
        s_io.Add(bytes, s_read);
    }

    internal static void Placed(long bytes)
    {
        s_writes.Add(1);
        s_io.Add(bytes, s_written);
    }

    private static Counter<long> Count(string name, string unit, string description) =>
        Meter.CreateCounter<long>($"salus.client.{name}", $"{{{unit}}}", description);
}
