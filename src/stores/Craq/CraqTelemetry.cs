using System.Diagnostics.Metrics;

namespace Craq;

/// <summary>Instruments of the nodes of this process.</summary>
internal static class CraqTelemetry
{
    public const string MeterName = "Craq";

    private static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Reads =
        Count("read", "request", "Reads that a client asked of a member.");

    internal static readonly Counter<long> DirtyReads = Count("read.dirty", "request",
        "Strong reads of which an object had an uncommitted version at the member when they came.");

    internal static readonly Counter<long> Writes =
        Count("write", "record", "Records of mutations that a head has made.");

    internal static readonly Counter<long> Confirmations = Count("confirmation", "confirmation",
        "Questions of other members for the epoch and the mark: for strong reads that wait there.");

    internal static readonly Counter<long> Expired =
        Count("expired", "object", "Expired objects that a head has deleted.");

    internal static readonly Counter<long> ValuesRelayed = Count("value.relayed", "record",
        "Records that a member has taken with values that came beside the chain.");

    internal static readonly Counter<long> ValuesFetched = Count("value.fetched", "record",
        "Records that a member has fetched from its predecessor, for a relayed value had not come in time.");

    internal static readonly UpDownCounter<long> ValuesHeld = Meter.CreateUpDownCounter<long>("craq.node.value.held",
        "By", "Relayed values that wait for their records.");

    private static Counter<long> Count(string name, string unit, string description) =>
        Meter.CreateCounter<long>($"craq.node.{name}", $"{{{unit}}}", description);
}
