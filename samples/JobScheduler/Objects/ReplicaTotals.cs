using Tango;

namespace JobScheduler.Objects;

/// <summary>Committed transactions of one replica, by kind, and the executions in them.</summary>
[MessagePackObject]
public readonly record struct ReplicaTotals(
    [property: Key(0)] long Submits,
    [property: Key(1)] long Starts,
    [property: Key(2)] long Finishes,
    [property: Key(3)] long Others,
    [property: Key(4)] long JobsStarted,
    [property: Key(5)] long JobsFinished)
{
    public long Total => Submits + Starts + Finishes + Others;
}
