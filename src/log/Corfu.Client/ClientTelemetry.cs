using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Client;

/// <summary>Names and instruments of this package; times in seconds.</summary>
public static class ClientTelemetry
{
    public const string MeterName = "Corfu.Client";
    public const string ActivitySourceName = "Corfu.Client";

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    internal static readonly Histogram<double> AppendTime =
        Duration("append.duration", "From call to acknowledgement, retries included.");

    internal static readonly Histogram<long> AppendSize =
        Meter.Size("corfu.client.append.size", "Payload of an append.");

    internal static readonly Histogram<double> CheckTime =
        Duration("check.duration", "One check on the wire, whatever the number of callers.");

    internal static readonly Histogram<double> ReadTime = Duration("read.duration", "One call, closed holes included.");

    internal static readonly Histogram<double> HoleTime =
        Duration("hole.duration", "From meeting holes to the last one closed, the writers' time included.");

    internal static readonly Counter<long> AppendUnknown =
        Count("append.unknown", "append", "Appends whose outcome could not be resolved.");

    internal static readonly Counter<long> AppendLost =
        Count("append.lost", "append", "Positions lost to a fill or to an ended epoch; the append took another.");

    internal static readonly Counter<long> CheckCallers =
        Count("check.caller", "call", "Calls that shared the checks.");

    internal static readonly Counter<long> SlowChecks =
        Count("check.slow", "check", "Checks answered from the units, the sequencer being silent.");

    internal static readonly Counter<long> ReadPositions = Count("read.position", "position", "Positions read.");

    internal static readonly Counter<long> ReadHedges =
        Count("read.hedge", "request", "Reads of a slow replica that were taken to another one.");

    internal static readonly Counter<long> DataLoss =
        Count("page.lost", "page", "Committed pages that a replica no longer had.");

    internal static readonly Counter<long> CorruptPages =
        Count("page.corrupt", "page", "Pages that a replica held damaged.");

    internal static readonly Counter<long> Repaired =
        Count("page.mended", "page", "Lost or damaged pages that a replica got back from another one.");

    internal static readonly Counter<long> HolesMet =
        Count("hole.met", "position", "Positions found unwritten below the tail, or at the log's end.");

    internal static readonly Counter<long> HolesTaken =
        Count("hole.taken", "position", "Holes closed with the value that the head held.");

    internal static readonly Counter<long> FilledBare =
        Count("hole.filled_bare", "position", "Fills without the lost append's stream headers (R8).");

    internal static readonly Counter<long> Graces =
        Count("append.grace", "append", "Appends that asked fillers for more time, having lost twice.");

    internal static readonly Counter<long> Filled = Count("hole.filled", "position", "Holes filled with junk.");

    internal static readonly Counter<long> Completed =
        Count("hole.completed", "position", "Values copied down their chain for another writer.");

    internal static readonly Counter<long> Retries = Count("retry", "retry", "Pauses before another attempt.");

    internal static readonly Counter<long> EpochChanges =
        Count("epoch_change", "change", "Newer projections adopted.");

    internal static readonly Counter<long> HandOvers =
        Count("stream.handed_over", "stream", "Stream tails handed over to a sequencer.");

    private static Counter<long> Count(string name, string unit, string description) =>
        Meter.CreateCounter<long>($"corfu.client.{name}", $"{{{unit}}}", description);

    private static Histogram<double> Duration(string name, string description) =>
        Meter.Duration($"corfu.client.{name}", description);
}
