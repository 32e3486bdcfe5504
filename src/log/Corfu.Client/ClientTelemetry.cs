using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Client;

/// <summary>Names and instruments of this package; times in seconds.</summary>
public static class ClientTelemetry
{
    public const string MeterName = "Corfu.Client";
    public const string ActivitySourceName = "Corfu.Client";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    internal static readonly Histogram<double> AppendTime =
        Duration("append.duration", "From call to acknowledgement, retries included.");

    internal static readonly Histogram<double> CheckTime =
        Duration("check.duration", "One check on the wire, whatever the number of callers.");

    internal static readonly Histogram<double> ReadTime = Duration("read.duration", "One call, closed holes included.");

    internal static readonly Histogram<double> HoleTime =
        Duration("holes.duration", "From meeting holes to the last one closed, the writers' time included.");

    internal static readonly Counter<long> AppendUnknown =
        Count("append.unknown", "append", "Appends whose outcome could not be resolved.");

    internal static readonly Counter<long> AppendLost =
        Count("append.lost", "append", "Positions lost to a fill or to an ended epoch; the append took another.");

    internal static readonly Counter<long> CheckCallers =
        Count("check.callers", "call", "Calls that shared the checks.");

    internal static readonly Counter<long> SlowChecks =
        Count("check.slow", "check", "Checks answered from the units, the sequencer being silent.");

    internal static readonly Counter<long> ReadPositions = Count("read.positions", "position", "Positions read.");

    internal static readonly Counter<long> ReadHedges =
        Count("read.hedges", "request", "Reads of a slow replica that were taken to another one.");

    internal static readonly Counter<long> DataLoss =
        Count("data_loss", "page", "Committed pages that a replica no longer had.");

    internal static readonly Counter<long> CorruptPages =
        Count("corrupt_pages", "page", "Pages that a replica held damaged.");

    internal static readonly Counter<long> Repaired =
        Count("mended", "page", "Lost or damaged pages that a replica got back from another one.");

    internal static readonly Counter<long> HolesMet =
        Count("holes.met", "position", "Positions found unwritten below the tail, or at the log's end.");

    internal static readonly Counter<long> HolesTaken =
        Count("holes.taken", "position", "Holes closed with the value that the head held.");

    internal static readonly Counter<long> FilledBare =
        Count("fills.bare", "position", "Fills without the lost append's stream headers (R8).");

    internal static readonly Counter<long> Graces =
        Count("graces", "append", "Appends that asked fillers for more time, having lost twice.");

    internal static readonly Counter<long> Filled = Count("fills", "position", "Holes filled with junk.");

    internal static readonly Counter<long> Completed =
        Count("completes", "position", "Values copied down their chain for another writer.");

    internal static readonly Counter<long> Retries = Count("retries", "retry", "Pauses before another attempt.");

    internal static readonly Counter<long> EpochChanges =
        Count("epoch_changes", "change", "Newer projections adopted.");

    internal static readonly Counter<long> HandOvers =
        Count("hand_overs", "stream", "Stream tails handed over to a sequencer.");

    private static Counter<long> Count(string name, string unit, string description) =>
        Meter.CreateCounter<long>($"corfu.client.{name}", $"{{{unit}}}", description);

    private static Histogram<double> Duration(string name, string description) =>
        Meter.CreateHistogram<double>($"corfu.client.{name}", "s", description);
}
