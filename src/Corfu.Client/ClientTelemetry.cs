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
        Meter.CreateHistogram<double>(
            "corfu.client.append.duration", "s", "From call to acknowledgement, retries included.");

    internal static readonly Counter<long> AppendUnknown =
        Meter.CreateCounter<long>(
            "corfu.client.append.unknown", "{append}", "Appends whose outcome could not be resolved.");

    internal static readonly Counter<long> AppendLost =
        Meter.CreateCounter<long>(
            "corfu.client.append.lost", "{append}",
            "Positions lost to a fill or to an ended epoch; the append took another.");

    internal static readonly Histogram<double> CheckTime =
        Meter.CreateHistogram<double>(
            "corfu.client.check.duration", "s", "One check on the wire, whatever the number of callers.");

    internal static readonly Counter<long> CheckCallers =
        Meter.CreateCounter<long>("corfu.client.check.callers", "{call}", "Calls that shared the checks.");

    internal static readonly Counter<long> SlowChecks =
        Meter.CreateCounter<long>(
            "corfu.client.check.slow", "{check}", "Checks answered from the units, the sequencer being silent.");

    internal static readonly Histogram<double> ReadTime =
        Meter.CreateHistogram<double>("corfu.client.read.duration", "s", "One call, closed holes included.");

    internal static readonly Counter<long> ReadPositions = Meter.CreateCounter<long>(
        "corfu.client.read.positions", "{position}");

    internal static readonly Counter<long> ReadHedges =
        Meter.CreateCounter<long>(
            "corfu.client.read.hedges", "{request}", "Reads of a slow replica that were taken to another one.");

    internal static readonly Counter<long> DataLoss =
        Meter.CreateCounter<long>("corfu.client.data_loss", "{page}", "Committed pages that a replica no longer had.");

    internal static readonly Counter<long> CorruptPages =
        Meter.CreateCounter<long>("corfu.client.corrupt_pages", "{page}", "Pages that a replica held damaged.");

    internal static readonly Counter<long> Repaired =
        Meter.CreateCounter<long>(
            "corfu.client.mended", "{page}", "Lost or damaged pages that a replica got back from another one.");

    internal static readonly Counter<long> HolesMet =
        Meter.CreateCounter<long>(
            "corfu.client.holes.met", "{position}", "Positions found unwritten below the tail, or at the log's end.");

    internal static readonly Counter<long> HolesTaken =
        Meter.CreateCounter<long>(
            "corfu.client.holes.taken", "{position}", "Holes closed with the value that the head held.");

    internal static readonly Histogram<double> HoleTime =
        Meter.CreateHistogram<double>(
            "corfu.client.holes.duration", "s",
            "From meeting holes to the last one closed, the writers' time included.");

    internal static readonly Counter<long> FilledBare =
        Meter.CreateCounter<long>(
            "corfu.client.fills.bare", "{position}", "Fills without the lost append's stream headers (R8).");

    internal static readonly Counter<long> Scanned =
        Meter.CreateCounter<long>(
            "corfu.client.scanned", "{position}",
            "Positions looked at one by one because a stream's backpointers led to bare junk.");

    internal static readonly Counter<long> Graces =
        Meter.CreateCounter<long>(
            "corfu.client.graces", "{append}", "Appends that asked fillers for more time, having lost twice.");

    internal static readonly Counter<long> Filled = Meter.CreateCounter<long>(
        "corfu.client.fills", "{position}", "Holes filled with junk.");

    internal static readonly Counter<long> Completed =
        Meter.CreateCounter<long>(
            "corfu.client.completes", "{position}", "Values copied down their chain for another writer.");

    internal static readonly Counter<long> Retries =
        Meter.CreateCounter<long>("corfu.client.retries", "{retry}", "Pauses before something was tried again.");

    internal static readonly Counter<long> EpochChanges = Meter.CreateCounter<long>(
        "corfu.client.epoch_changes", "{change}");

    internal static readonly Counter<long> HandOvers =
        Meter.CreateCounter<long>("corfu.client.hand_overs", "{stream}", "Stream tails handed over to a sequencer.");
}
