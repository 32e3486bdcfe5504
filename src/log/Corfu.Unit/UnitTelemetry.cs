using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Unit;

/// <summary>Instruments of the storage units of this process.</summary>
public static class UnitTelemetry
{
    public const string MeterName = "Corfu.Unit";
    public const string ActivitySourceName = "Corfu.Unit";

    internal static readonly ActivitySource Activities = new(ActivitySourceName);

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Commits =
        Meter.CreateCounter<long>("corfu.unit.commit", "{commit}", "Group commits: one write and one sync each.");
    internal static readonly Counter<long> CommittedBytes =
        Meter.CreateCounter<long>("corfu.unit.committed", "By", "Log bytes made durable.");
    internal static readonly Counter<long> ColdReads =
        Meter.CreateCounter<long>("corfu.unit.cold_read", "{read}", "Page reads that waited for the disk.");
    internal static readonly Counter<long> Cleanings =
        Meter.CreateCounter<long>("corfu.unit.cleaning", "{cleaning}", "Rounds in which disk space was given back.");
    internal static readonly Counter<long> FreedSegments =
        Meter.CreateCounter<long>("corfu.unit.segment.freed", "{segment}", "Segments of the log that were deleted.");
    internal static readonly Counter<long> Checkpoints =
        Meter.CreateCounter<long>("corfu.unit.checkpoint", "{checkpoint}", "Checkpoints of the address map.");
    internal static readonly Counter<long> CorruptPages =
        Meter.CreateCounter<long>("corfu.unit.page.corrupt", "{page}", "Pages that a read found damaged.");
    internal static readonly Counter<long> Overloaded =
        Meter.CreateCounter<long>("corfu.unit.overloaded", "{request}",
            "Requests refused because a limit of the handler was reached.");

    internal static readonly Histogram<double> CommitTime = Meter.Duration(
        "corfu.unit.commit.duration", "A group commit with its answers: write, sync, release.");
    internal static readonly Histogram<double> SyncTime = Meter.Duration(
        "corfu.unit.sync.duration", "Write and sync of a group commit.");
    internal static readonly Histogram<double> RecoveryTime = Meter.Duration(
        "corfu.unit.recovery.duration", "Opening a unit: reading its log back.");
}
