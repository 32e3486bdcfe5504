using Tango;

namespace JobScheduler.Objects;

/// <summary>Committed transactions of one replica, by kind.</summary>
[TangoValue]
public readonly record struct ReplicaTotals(
    [property: TangoMember(0)] long Submits,
    [property: TangoMember(1)] long Starts,
    [property: TangoMember(2)] long Finishes,
    [property: TangoMember(3)] long Others)
{
    public long Total => Submits + Starts + Finishes + Others;
}
