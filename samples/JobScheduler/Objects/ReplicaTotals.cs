using Tango;

namespace JobScheduler.Objects;

/// <summary>Committed transactions of one replica, by kind, and the executions in them.</summary>
[TangoValue]
public readonly record struct ReplicaTotals(
    [property: TangoMember(0)] long Submits,
    [property: TangoMember(1)] long Starts,
    [property: TangoMember(2)] long Finishes,
    [property: TangoMember(3)] long Others,
    [property: TangoMember(4)] long JobsStarted,
    [property: TangoMember(5)] long JobsFinished)
{
    public long Total => Submits + Starts + Finishes + Others;
}
